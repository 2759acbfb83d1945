"""The records that flow through the arena, from left to right and never back.

    Document -> Passage -> Hit -> Retrieval, Question -> Task -> (strategy) -> Attempt -> RunRecord -> Score
    Gold meets RunRecord in scoring only; no strategy can reach it.

Undefined and unknown are None, never 0. Durations are seconds of a monotonic clock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Scalar = str | int | float | bool | None
Kind = Literal["multi_hop", "single_hop", "summary", "unanswerable"]
AnswerStyle = Literal["short", "summary"]
Outcome = Literal["answered", "abstained", "failed"]
Stage = Literal["model", "strategy"]
KINDS: tuple[Kind, ...] = get_args(Kind)

GOLD_MODE = "gold"  # a control is handed the gold documents; nobody can retrieve like this
NO_RETRIEVAL_MODE = "none"  # a cell that never retrieves


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a corpus. Its identity in a pooled corpus is (title, text), never the title."""

    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of retrieval: a span of a document, the whole document unless chunking is on.

    `start_char` and `end_char` delimit `text` in the document's text (end exclusive).
    """

    passage_id: str
    doc_id: str
    title: str
    text: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question as the benchmark knows it; a strategy only ever sees its `Task`.

    `hops` is the length of the longest reasoning path counted in facts (1 for single-hop, None when the
    dataset does not say); `hop_shape` is MuSiQue's: 2hop, 3hop1, 3hop2, 4hop1, 4hop2 or 4hop3.
    """

    question_id: str
    text: str
    kind: Kind
    hops: int | None = None
    hop_shape: str | None = None
    split: str | None = None

    @property
    def task(self) -> Task:
        """What a strategy may know of this question. An unanswerable one looks like any other."""
        return Task(self.text, "summary" if self.kind == "summary" else "short")


@dataclass(frozen=True, slots=True)
class Task:
    """What a strategy sees. Not the id, which spells out the hops in MuSiQue, nor the kind ("unanswerable")."""

    question: str
    style: AnswerStyle = "short"


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a reference answer and the documents that carry its evidence."""

    text: str
    supporting_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gold:
    """What is known to be right for one question.

    `answers`: the main answer, then its aliases; empty only when not answerable.
    `supporting_ids`: documents that together carry the evidence. `hop_order`: the same documents in the
    order of the decomposition, one per hop (None where the dataset gives none).
    """

    question_id: str
    answers: tuple[str, ...]
    supporting_ids: tuple[str, ...]
    hop_order: tuple[str, ...] | None = None
    answerable: bool = True
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One question put to the index. Two equal requests give equal hits.

    `k`: passages wanted. `depth`: candidates per lane before fusion, `rrf_k`: constant of reciprocal rank
    fusion; both None in mode `dense`.
    """

    query: str
    mode: str
    k: int
    depth: int | None = None
    rrf_k: int | None = None


@dataclass(frozen=True, slots=True)
class LaneHit:
    """Where a lane (dense, sparse) placed a passage: rank from 1, score on the lane's own scale."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved passage: rank from 1, the mode's final score, and its place in each lane."""

    passage_id: str
    doc_id: str
    rank: int
    score: float
    lanes: Mapping[str, LaneHit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievalSeconds:
    """Where the time of one retrieval went."""

    embed: float = 0.0
    search: float = 0.0
    rerank: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A request, its hits (best first) and the seconds spent."""

    request: RetrievalRequest
    hits: tuple[Hit, ...]
    seconds: RetrievalSeconds = RetrievalSeconds()


@dataclass(frozen=True, slots=True)
class LLMCall:
    """The ledger entry of one logical call to a language model, all its attempts included.

    `role` names the node that asked (`generate`, `grade_relevance`, `judge`, ...). Token counts are None
    when the provider did not say; `input_tokens` includes `cached_input_tokens`, `output_tokens`
    includes `reasoning_tokens`. `queue_seconds` is time spent waiting for our own limiter,
    `service_seconds` time spent waiting for the provider. `replayed` calls came from a cache.
    """

    role: str
    model: str
    prompt_sha: str
    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    queue_seconds: float = 0.0
    service_seconds: float = 0.0
    attempts: int = 1
    replayed: bool = False
    finish_reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One branch a controller took.

    `node` decided, `choice` was taken because `score` stood to `threshold` as it did; `origin` tells where the
    threshold comes from (`paper`, `calibrated`, `default`); `changed` says what the branch altered
    (`evidence`, `query`, `answer`; empty = nothing).
    """

    node: str
    choice: str
    score: float | None = None
    threshold: float | None = None
    origin: str | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a strategy on one question, with three stages of evidence (document ids).

    `text` is None when the strategy does not answer by design (retrieval only). `retrieved_ids`: everything
    any retrieval brought, first seen first. `used_ids`: what was shown to the call that wrote the
    final answer, in the order shown. `cited_ids`: what the answer points to.
    """

    text: str | None
    abstained: bool
    retrieved_ids: tuple[str, ...] = ()
    used_ids: tuple[str, ...] = ()
    cited_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a strategy hands back: its answer and the decisions on the way."""

    answer: Answer
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question has no answer. A value, never a zero."""

    stage: Stage
    type: str
    message: str
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One contestant under one setting; equal cells are interchangeable.

    `params`: all else that can change an answer (k, depth, temperature, ...).
    """

    strategy: str
    retrieval_mode: str
    llm: str | None
    params: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Readable identity, unique for every difference in the fields."""
        canonical = json.dumps(
            [self.strategy, self.retrieval_mode, self.llm, dict(self.params)], sort_keys=True, ensure_ascii=False
        )
        return f"{self.strategy}/{self.retrieval_mode}/{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything that happened when one cell met one question; one line of the journal.

    Either `answer` or `failure` is set. `wall_seconds` includes queueing, `latency_seconds` does not.
    """

    cell: Cell
    question_id: str
    outcome: Outcome
    answer: Answer | None
    failure: Failure | None
    retrievals: tuple[Retrieval, ...]
    calls: tuple[LLMCall, ...]
    decisions: tuple[Decision, ...]
    wall_seconds: float

    @property
    def latency_seconds(self) -> float:
        """What a lone user would have waited: wall time less the time spent in our own limiter's queue."""
        return max(0.0, self.wall_seconds - sum(call.queue_seconds for call in self.calls))


@dataclass(frozen=True, slots=True)
class Score:
    """One metric on one question. `value` is None when undefined or missing, and `reason` says why."""

    metric: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus, questions on it and their gold, in a fixed order.

    `name`: as the user asked for it. `fingerprint`: changes with any document, question or gold.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    gold: Mapping[str, Gold]
    fingerprint: str
    notes: tuple[str, ...] = ()
