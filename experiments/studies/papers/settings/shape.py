"""What a published figure was made under, setting by setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.types import Scalar


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A strategy of the arena that does what the paper's system does, under settings that it must have."""

    strategy: str
    params: Mapping[str, Scalar] = field(default_factory=dict)

    def __str__(self) -> str:
        return ":".join((self.strategy, *(f"{name}={value}" for name, value in self.params.items())))


@dataclass(frozen=True, slots=True)
class Reader:
    """The language model that answers.

    `names`: how providers name it, in lower case, without provider, owner and quantisation. `maybe`: names that the
    paper's model goes by, and other models too.
    """

    said: str
    names: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Retriever:
    """How passages are found. `embedders`: names of the embedder, where it is dense retrieval (else no mode is it).

    `k`: passages of one retrieval; None where the paper's `k_said` is no one number.
    """

    said: str
    k: int | None
    k_said: str
    embedders: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is searched. `n_documents` None: the paper does not say. `chunk`: tokens and overlap (None: whole)."""

    said: str
    n_documents: int | None
    chunk: tuple[int, int] | None = None
    web: bool = False


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked. `n` questions: `all` of the set, `drawn` (see `papers.drawn`), or which ones is `unsaid`."""

    said: str
    n: int
    chosen: Literal["all", "drawn", "unsaid"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured. `ours`: the arena's metric, or `retrievals_per_question`; `kind`: over those questions alone.

    `ours_said`: what ours is where it is another measure than `said` (None: they are the same).
    """

    said: str
    ours: str
    ours_said: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """The settings of one published figure. `retriever` and `corpus` None: nothing is retrieved.

    `trained`: the system's judgements come from a model trained for them, which is tier T2.
    """

    counterparts: tuple[Counterpart, ...]
    reader: Reader
    retriever: Retriever | None
    corpus: Corpus | None
    questions: Questions
    measure: Measure
    trained: bool
    source: str


@dataclass(frozen=True, slots=True)
class NoCounterpart:
    """A published system that no strategy of the arena is, and why."""

    reason: str


SettingsOf = PaperSettings | NoCounterpart | None
"""None: the figure is no result that a run could have, such as a dataset's size or a measure that no run has."""

PLAIN = (Counterpart("vanilla"), Counterpart("adaptive", {"policy": "always_b"}))
"""Retrieve once, answer once."""

CLOSED = (Counterpart("closed_book"), Counterpart("adaptive", {"policy": "always_a"}))
"""Answer without retrieval."""

SELF_RAG = Counterpart("self_rag", {"retrieval": "adaptive", "constraints": "soft"})
"""Self-RAG as its paper runs it, whatever makes its judgements: that is the tier's affair."""
