"""What happened when a contestant met a question, and how it scored.

A `Score` is what one metric says of one question. A `Verdict` is what a judge said, of which a score is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator

from arena.identity import canonical_json, short_hash
from arena.text import ends_in_reasoning, without_reasoning
from arena.types.data import Scalar
from arena.types.evidence import FOREIGN_MODES, Activity, Retrieval, ShownDocument, held_up_seconds

Outcome = Literal["answered", "abstained", "failed"]
Stage = Literal["model", "strategy", "timeout"]
"""Where a question failed: a call to the model, the strategy itself, or the time it may take."""
Tier = Literal["T0", "T1", "T2"]
"""What judgements are made of: a label, label probabilities, a trained model. Each claims more than the one before."""

# OpenAI and its kin, Ollama; Anthropic, Gemini; Mistral.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})

UNSTATED = "unstated"
"""Model of an answer that does not say which one wrote it; it has no price."""

ALL_CALLS = "all calls"
"""Role of the entry that stands for all model calls of a foreign system's question, however many they were."""

MOST_COUNTED = 10**12
"""No call has more tokens; the sums of a run of such counts fit into 64 bits."""


def known_count(value: object) -> int | None:
    """A count of tokens as anyone outside states it: a whole number from 0 to `MOST_COUNTED`; None for all else.

    20.0 is whole. A truth value, a text, a fraction, NaN, a negative and an absurdly large number say nothing.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_COUNTED:
        return None
    return int(value) if value == int(value) else None


Count = Annotated[int | None, BeforeValidator(known_count)]
"""A count in a record: one that an older version wrote down as it came is read as unknown if it is none."""


@dataclass(frozen=True, slots=True)
class CallAttempt:
    """One request to the provider inside a call, and what it used.

    Token counts are None when the provider did not say (a reply without usage, a request that timed out or broke off
    and may have been billed), and 0 for a request it refused. `input_tokens` includes `cached_input_tokens`,
    `output_tokens` includes `reasoning_tokens`. `queue_seconds` is time spent waiting for our own limits,
    `service_seconds` for the provider. `fault`: why it brought no reply (None = it did).
    """

    input_tokens: Count
    output_tokens: Count
    cached_input_tokens: Count = None
    reasoning_tokens: Count = None
    queue_seconds: float = 0.0
    service_seconds: float = 0.0
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class LLMCall:
    """The ledger entry of one logical call to a language model, with every attempt inside it.

    `role` names the node that asked (`generate`, `grade_relevance`, `judge`, ...). `backoff_seconds` was spent waiting
    for the next attempt; `started_seconds` is when the call was asked for, since the start of its question (None =
    outside one). A `replayed` call came from the reply cache: its attempts have the tokens of the call that was
    paid, and no seconds. `repair`: it asked once more because the reply before could not be read. `bounded`: whoever
    asked let it write less than the model's setting. `dropped`: the parameters that were left out because the model
    refuses them.
    """

    role: str
    model: str
    prompt_sha: str
    attempts: tuple[CallAttempt, ...]
    backoff_seconds: float = 0.0
    started_seconds: float | None = None
    replayed: bool = False
    repair: bool = False
    bounded: bool = False
    dropped: tuple[str, ...] = ()
    finish_reason: str | None = None
    error: str | None = None

    @property
    def input_tokens(self) -> int | None:
        """Prompt tokens of all attempts; None when any is unknown."""
        return sum_known(attempt.input_tokens for attempt in self.attempts)

    @property
    def output_tokens(self) -> int | None:
        """Written tokens of all attempts, reasoning included; None when any is unknown."""
        return sum_known(attempt.output_tokens for attempt in self.attempts)

    @property
    def cached_input_tokens(self) -> int | None:
        """Prompt tokens that the provider read from its own cache; None when it said so of no attempt."""
        return _sum_said(attempt.cached_input_tokens for attempt in self.attempts)

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens of hidden reasoning; None when the provider said so of no attempt."""
        return _sum_said(attempt.reasoning_tokens for attempt in self.attempts)

    @property
    def queue_seconds(self) -> float:
        return sum(attempt.queue_seconds for attempt in self.attempts)

    @property
    def service_seconds(self) -> float:
        return sum(attempt.service_seconds for attempt in self.attempts)

    @property
    def truncated(self) -> bool:
        """Whether the model's own limit cut the reply off; a bound of the asker's is what the asker wanted."""
        return not self.bounded and was_cut(self.finish_reason)

    @property
    def activity(self) -> Activity:
        return Activity(
            self.started_seconds, waiting=self.queue_seconds + self.backoff_seconds, service=self.service_seconds
        )


Purpose = Literal["question", "judge", "probe", "health", "before"]
"""What an attempt was paid for: a question's answer, a judge's verdict, the latency probe, the check that a judge can
judge; `before`: all that was spent before the run kept a ledger of payments."""


@dataclass(frozen=True, slots=True)
class PaidAttempt:
    """One attempt as a run's ledger of payments has it: who was asked, for what, and what that took.

    Neither prompt nor reply is in it.

    `number` counts the attempts of one call, from 1. `base_url` is where the model was asked (None = at the provider's
    own address). `reserved_input_tokens` and `reserved_output_tokens` are estimates of the counts that the provider did
    not report, and 0 of those that it did. `run` and `entry` tell the line from every other, of other runs too.

    The one `before` has the tokens that were known as its input, and what they cost in `usd`, which no other has.
    """

    purpose: Purpose
    model: str
    role: str
    prompt_sha: str
    number: int
    attempt: CallAttempt
    base_url: str | None = None
    reserved_input_tokens: int = 0
    reserved_output_tokens: int = 0
    usd: float | None = None
    run: str = ""
    entry: str = ""

    @property
    def expected(self) -> CallAttempt:
        """The attempt with the estimates in the place of what is unknown."""
        known = (self.attempt.input_tokens, self.attempt.output_tokens)
        estimates = (self.reserved_input_tokens, self.reserved_output_tokens)
        read, written = (estimate if count is None else count for count, estimate in zip(known, estimates, strict=True))
        return replace(self.attempt, input_tokens=read, output_tokens=written)


def was_cut(finish_reason: str | None) -> bool:
    """Whether a reply ended at a limit of tokens, and not where the model would have."""
    return (finish_reason or "").lower() in _CUT_OFF


def cut_before_speaking(text: str, finish_reason: str | None) -> bool:
    """Whether a reply was cut off before the model said anything: nothing is there, or reasoning without an end."""
    return not without_reasoning(text) and (ends_in_reasoning(text) or was_cut(finish_reason))


Amount = TypeVar("Amount", int, float)


def sum_known(amounts: Iterable[Amount | None]) -> Amount | None:
    """The sum; None when any amount is unknown. The sum of nothing is 0."""
    total: Amount = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def _sum_said(counts: Iterable[int | None]) -> int | None:
    said = [count for count in counts if count is not None]
    return sum(said) if said else None


FIT = "fit"
"""Node of the decision that evidence was left out of a prompt, because the model's window has no room for it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One branch a controller took.

    `node` decided, `choice` was taken because `score` stood to `threshold` as it did; `origin` tells where the
    threshold comes from (`paper`, `calibrated`, `default`, `user`); `changed` says what the branch altered
    (`evidence`, `query`, `answer`; empty = nothing). `tier`: the `Tier` of the judgement behind it (None = no
    judgement). `subject`: what it was about, where there is more than one (a passage's id, the number of a segment).
    `parts`: what the score was made of, by the paper's names.
    """

    node: str
    choice: str
    score: float | None = None
    threshold: float | None = None
    origin: str | None = None
    changed: tuple[str, ...] = ()
    tier: str | None = None
    subject: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a strategy on one question, with three stages of evidence (document ids).

    `text` is None when the strategy does not answer by design (retrieval only). `retrieved_ids`: everything any
    retrieval brought, first seen first. `used_ids`: what was shown to the call that wrote the final answer, in the
    order shown. `cited_ids`: what the answer points to. `shown`: what stood in that call's prompt of each of
    `used_ids`, in their order; of an answer that several calls wrote, in all of their prompts (None = not known).
    """

    text: str | None
    abstained: bool
    retrieved_ids: tuple[str, ...] = ()
    used_ids: tuple[str, ...] = ()
    cited_ids: tuple[str, ...] = ()
    shown: tuple[ShownDocument, ...] | None = None


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
        canonical = canonical_json([self.strategy, self.retrieval_mode, self.llm, dict(self.params)])
        return f"{self.strategy}/{self.retrieval_mode}/{short_hash(canonical, 8)}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything that happened when one cell met one question; one line of the journal.

    Exactly one of `answer` and `failure` is set. `wall_seconds` includes all waiting for others;
    `latency_seconds` does not. `warm_up`: it was the first of its cell in its process, so that its seconds are also
    those of connections and models that were made ready. `timed`: the seconds are those of asking this very question;
    not so where the record was made of another, or of a file that says none.
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
    warm_up: bool = False
    timed: bool = True

    @property
    def tells_evidence(self) -> bool:
        """Whether it is known what was retrieved; not so where a foreign system does not report it."""
        return bool(self.retrievals) or self.cell.retrieval_mode not in FOREIGN_MODES

    @property
    def counts_calls(self) -> bool:
        """Whether it is known how many calls a model had; not so where one entry stands for all of them."""
        return not any(call.role == ALL_CALLS for call in self.calls)

    @property
    def latency_seconds(self) -> float:
        """What a lone user would have waited: nothing held up by others, every query embedded afresh.

        Exact where one call or retrieval follows another, or one at a time is served; an upper bound where calls of
        one question were served one by one for want of slots.
        """
        spans = [retrieval.seconds for retrieval in self.retrievals]
        activities = [*(call.activity for call in self.calls), *(span.activity for span in spans)]
        return max(0.0, self.wall_seconds - held_up_seconds(activities)) + sum(span.known_embed for span in spans)


@dataclass(frozen=True, slots=True)
class Partial:
    """What is known of a score some parts of which are missing.

    `known`: the share of its parts that are, in [0, 1). `low`, `high`: the score with every missing part counted
    against it and for it.
    """

    known: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Score:
    """One metric on one question.

    `value` is None when undefined or missing, and `reason` says why. `partial`: of a missing one, what is known of it
    (None = nothing: it may be anything in [0, 1]).
    """

    metric: str
    value: float | None
    reason: str | None = None
    partial: Partial | None = None


JudgeMetric = Literal[
    "answer_accuracy", "faithfulness", "context_precision", "context_recall", "answer_relevancy", "answer_correctness"
]


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """One thing a judge was asked about: a statement, a passage, one of two ratings.

    `name` says which (the statement's text, the passage's document id, `judge_1`). `value` is what the judge said (0 or
    1 for a statement; 0, 2 or 4 for a rating), None = not judged, and `reason` says why.
    """

    name: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of one record by one metric, once; one line of verdicts.jsonl.

    `judge`: `PROVIDER:NAME`; `judge_sha`: of all that can change a verdict (model, parameters, ragas' version, its
    prompts). `subject_sha`: of what was judged (question, answer, reference, texts), so that a verdict on another
    answer is never taken for one on this. `repeat` counts from 0. `score` carries value, reason and what is known of
    it; `parts` what it is made of; `calls` what it took, apart from the calls of the system that is judged.
    """

    cell: str
    question_id: str
    metric: JudgeMetric
    judge: str
    judge_sha: str
    subject_sha: str
    repeat: int
    score: Score
    parts: tuple[VerdictPart, ...] = ()
    calls: tuple[LLMCall, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)
