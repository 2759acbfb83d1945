"""The seams of the arena. Everything on the far side of one can be replaced.

Strategy  <- what competes            Retriever <- where evidence comes from
ChatModel <- what writes              Embedder  <- how text becomes vectors
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from arena.types import Attempt, LLMCall, Passage, Retrieval, RetrievalRequest, Task, Tier

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One logical call to a language model.

    `prompt`: a conversation, or a text that the model is to continue (a server with a completions endpoint only).
    `role` names the asking node. `room`: tokens the reply needs at least, where that is more than the model's own
    setting; `limit`: tokens it may take at most, whatever the setting. `alternatives` > 0: the log-probability of each
    token is wanted, with so many alternatives, where the provider gives them. `json_schema`: the schema the reply is
    to keep, where the provider can hold the model to it. `stop`: the reply ends before any of these. `sample` tells
    apart repeated askings of the same prompt. `repair`: asks once more for what could not be read.
    """

    prompt: str | tuple[Message, ...]
    role: str
    room: int | None = None
    limit: int | None = None
    alternatives: int = 0
    json_schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
    sample: int = 0
    repair: bool = False


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """A generated token, its log-probability, and those of the likeliest tokens at its place (text -> natural log)."""

    text: str
    logprob: float
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call brought back. `text` is None exactly when `call.error` is set.

    `tokens` is empty where no log-probabilities were asked for or the provider gives none.
    """

    text: str | None
    call: LLMCall
    tokens: tuple[TokenChoice, ...] = ()


class ChatModel(Protocol):
    """A language model behind the metered gate."""

    @property
    def name(self) -> str:
        """`PROVIDER:NAME`, the identity that goes into a cell."""

    async def fits(self, request: ModelRequest) -> bool:
        """Whether prompt and reply fit the model's window, as far as that is known; True where it is not."""

    async def complete(self, request: ModelRequest) -> Reply:
        """Ask once. A call that fails is a reply whose `call.error` is set.

        Raises a `UserError` for what would fail every other call too: a refused key, an exhausted quota or budget, a
        model the server does not know, a provider that is down.
        """


@dataclass(frozen=True, slots=True)
class Continuation:
    """A text a model wrote, with its tokens where the provider gives log-probabilities (else none)."""

    text: str
    tokens: tuple[TokenChoice, ...] = ()
    finish_reason: str | None = None

    @property
    def mean_logprob(self) -> float | None:
        """Mean natural-log probability of its tokens; None without them."""
        return sum(token.logprob for token in self.tokens) / len(self.tokens) if self.tokens else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A label a model chose.

    `label` is None when the reply could not be read, not even after a repair turn. `tier` says what it was read from:
    `T1` the label's probabilities, `T0` the reply's text. At T1 `probabilities` (label -> [0, 1], sum 1) are
    renormalised over all labels, and `mass` in [0.5, 1] is what the labels had together before; at T0 both are None.
    """

    label: str | None
    tier: Literal["T0", "T1"]
    probabilities: Mapping[str, float] | None = None
    mass: float | None = None


S = TypeVar("S", bound=BaseModel)


class Writer(Protocol):
    """A `ChatModel` as one question sees it: every call is entered in that question's ledger.

    Every method raises `ModelCallError` when a call failed and `AllowanceSpent` when the question may ask no more; the
    ledger has the calls either way.
    """

    async def fits(self, messages: Sequence[Message], *, room: int | None = None) -> bool:
        """Whether the messages and a reply fit the model's window, as far as that is known; asks no model."""

    async def write(self, messages: Sequence[Message], *, role: str, room: int | None = None) -> str:
        """The reply's text. `room`: tokens it needs at least, where that is more than the model's setting."""

    async def draft(
        self,
        messages: Sequence[Message],
        *,
        role: str,
        limit: int | None = None,
        stop: tuple[str, ...] = (),
        logprobs: bool = False,
    ) -> Continuation:
        """A reply with the log-probability of each token, where asked for and given."""

    async def classify(self, messages: Sequence[Message], labels: Sequence[str], *, role: str) -> Judgement:
        """The label the model chooses; the messages say what each means and to reply with the label alone.

        `labels` are short words or letters that differ in their first token (`A`, `B`, `C`; `yes`, `no`; `1` .. `5`).
        """

    async def ask(self, messages: Sequence[Message], schema: type[S], *, role: str) -> S:
        """A reply as an instance of `schema`. Raises `UnreadableReplyError` when it is none after a repair turn."""

    async def continue_text(
        self, prompt: str, *, role: str, limit: int, stop: tuple[str, ...] = (), alternatives: int = 0
    ) -> Continuation:
        """The model's continuation of `prompt`, through a completions endpoint (special tokens are kept)."""


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights: `indices` (m,) unique ints, `values` (m,) floats > 0; empty for a text without terms."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Embedding:
    """Both lanes of n texts: `dense` (n, d) float32, `sparse` n term vectors.

    Rows of `dense` have L2 norm 1, but where the embedding model is set to keep their length.
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

    @property
    def dimension(self) -> int:
        """Width d of the dense lane."""

    def embed_passages(self, texts: Sequence[str]) -> Embedding: ...

    def embed_queries(self, texts: Sequence[str]) -> Embedding: ...


class Reranker(Protocol):
    """A second look at a query's candidates, more exact and more expensive than the index."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What can change a score: model, weights hash, dtype, maximal length, normalisation."""

    @property
    def default_threshold(self) -> float | None:
        """The threshold this reranker's scale is known to want; None = none is known, and none applies."""

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """One score per candidate of each query, higher is better; batched across queries and candidates."""


class Evaluator(Protocol):
    """A trained judge of how well texts bear on a question, asked from threads. `identity`: what can change a score."""

    @property
    def identity(self) -> Mapping[str, str | int]: ...

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score per text, on the evaluator's own scale, higher is better."""


class Router(Protocol):
    """A trained judge of how complex a question is, asked from threads. `identity`: what can change a probability.

    `tier`: T2 where it is the kind that the paper trained, T1 where it stands in for it.
    """

    @property
    def identity(self) -> Mapping[str, str | int]: ...

    @property
    def tier(self) -> Tier: ...

    def probabilities(self, question: str) -> Mapping[str, float]:
        """Label -> [0, 1], sum 1, of every label it knows, from the question's text alone."""


class Retriever(Protocol):
    """Evidence for a query; the same request always gives the same hits, best first."""

    async def retrieve(self, request: RetrievalRequest) -> Retrieval: ...

    def passage(self, passage_id: str) -> Passage:
        """The passage behind a hit."""


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


@dataclass(slots=True)
class OwnReport:
    """What a system that retrieves and writes by itself says it did on one question; kept if it fails afterwards, too.

    `clock` gives the seconds since the question's start.
    """

    clock: Callable[[], float]
    calls: list[LLMCall] = field(default_factory=list)
    retrievals: list[Retrieval] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tools:
    """All that a strategy may use on one question: a metered retriever, how to ask it, a metered model.

    `writer` is None for strategies that declare they need no model. `external` searches another source of knowledge
    than the index (a second index, a search tool); None = there is none. `evaluator` judges passages where a strategy's
    settings want a trained judge, `router` the question itself; None = none do. `report` is where a foreign system says
    what it did; None for strategies, whose work is metered.
    """

    retriever: Retriever
    settings: RetrievalSettings
    writer: Writer | None
    external: Retriever | None = None
    evaluator: Evaluator | None = None
    router: Router | None = None
    report: OwnReport | None = None


class Strategy(Protocol):
    """One contestant, built once per cell and run once per question, concurrently."""

    async def attempt(self, task: Task, tools: Tools) -> Attempt: ...
