"""The seams of the arena. Everything on the far side of one can be replaced.

Strategy  <- what competes            Retriever <- where evidence comes from
ChatModel <- what writes              Embedder  <- how text becomes vectors
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.types import Attempt, LLMCall, Passage, Retrieval, RetrievalRequest, Task

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call brought back. `text` is None exactly when `call.error` is set."""

    text: str | None
    call: LLMCall


class ChatModel(Protocol):
    """A language model behind the metered gate."""

    @property
    def name(self) -> str:
        """`PROVIDER:NAME`, the identity that goes into a cell."""
        ...

    async def complete(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> Reply:
        """Ask once. `role` names the asking node.

        `max_tokens`: room the reply needs, where that is more than the model's own setting, which is never lowered.
        A call that fails is a reply whose `call.error` is set. Raises `ModelSetupError` for what would fail every
        other call too: a refused key, an exhausted quota, a model the server does not know.
        """
        ...


class Writer(Protocol):
    """A `ChatModel` as one question sees it: every call is entered in that question's ledger."""

    async def write(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> str:
        """The reply's text. Raises `ModelCallError` when the call failed; the ledger has it either way."""
        ...


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights: `indices` (m,) unique ints, `values` (m,) floats > 0; empty for a text without terms."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Embedding:
    """Both lanes of n texts: `dense` (n, d) float32 with rows of L2 norm 1, `sparse` n term vectors.

    `multi`: for late interaction, one (tokens, d') float32 matrix per text with rows of L2 norm 1.
    """

    dense: Vectors
    sparse: tuple[SparseVector, ...]
    multi: tuple[Vectors, ...] | None = None


class Embedder(Protocol):
    """Text to the two lanes of the index. The same text gives the same vectors, alone or in a batch."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What can change a vector: model, weights hash, dtype, maximal length. Part of the index's identity."""
        ...

    @property
    def dimension(self) -> int:
        """Width d of the dense lane."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Embedding: ...

    def embed_queries(self, texts: Sequence[str]) -> Embedding: ...


class Reranker(Protocol):
    """A second look at a query's candidates, more exact and more expensive than the index."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What can change a score: model, weights hash, dtype, maximal length, normalisation."""
        ...

    @property
    def default_threshold(self) -> float | None:
        """The threshold this reranker's scale is known to want; None = none is known, and none applies."""
        ...

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """One score per candidate of each query, higher is better; batched across queries and candidates."""
        ...


class Retriever(Protocol):
    """Evidence for a query; the same request always gives the same hits, best first."""

    async def retrieve(self, request: RetrievalRequest) -> Retrieval: ...

    def passage(self, passage_id: str) -> Passage:
        """The passage behind a hit."""
        ...


class EvidenceSource(Protocol):
    """Gives each question its retriever.

    An index gives every question the same one. The `gold` source of the oracle row gives each question a
    retriever over that question's own supporting documents, so that the strategy itself never sees gold.
    """

    def for_question(self, question_id: str) -> Retriever: ...


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How the retrieve node asks; the same for every strategy of a comparison. See `RetrievalRequest`."""

    mode: str
    k: int
    depth: int | None = None
    rrf_k: int | None = None
    fusion: str | None = None
    lane_weights: tuple[float, float] | None = None
    threshold: float | None = None

    def request(self, query: str) -> RetrievalRequest:
        return RetrievalRequest(
            query, self.mode, self.k, self.depth, self.rrf_k, self.fusion, self.lane_weights, self.threshold
        )


@dataclass(frozen=True, slots=True)
class Tools:
    """All that a strategy may use on one question: a metered retriever, how to ask it, a metered model.

    `writer` is None for strategies that declare they need no model.
    """

    retriever: Retriever
    settings: RetrievalSettings
    writer: Writer | None


class Strategy(Protocol):
    """One contestant, built once per cell and run once per question, concurrently."""

    async def attempt(self, task: Task, tools: Tools) -> Attempt: ...
