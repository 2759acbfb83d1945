"""The score table: all that is known of every question of every cell, with nothing averaged or rounded.

It is kept as the columns of scores.parquet and questions.parquet. `Usage` is what one question took in one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arena.accounting import Account, accounts_by_role, add_up
from arena.judges.reading import JudgeCount
from arena.metrics.case import Case
from arena.metrics.controllers import ControllerCounts, DecisionCounts
from arena.metrics.failures import FailureFinding
from arena.prices import PriceTable
from arena.types import FOREIGN_MODES, UNMAPPED, Cell, Outcome, RunRecord, Score, grouped


@dataclass(frozen=True, slots=True)
class Usage:
    """What one question took in one cell.

    `measured`: its latency is one: it did not fail, was no warm-up, and none of its calls was `replayed`. `truncated`:
    a reply ended at the token limit, not where the model would have. `hits`: what all retrievals brought, with what a
    reranker dropped of it. `roles`: what of the account each role of the calls took. `tells_calls`, `tells_evidence`:
    whether the calls that a model had, and the retrievals, are known; of a foreign system they may not be.
    """

    outcome: Outcome
    latency_seconds: float
    measured: bool
    account: Account
    retrievals: int
    truncated: bool
    replayed: bool = False
    warm_up: bool = False
    hits: int = 0
    roles: Mapping[str, Account] = field(default_factory=dict)
    tells_calls: bool = True
    tells_evidence: bool = True

    @property
    def calls(self) -> int | None:
        """Calls that a model had; None = not known."""
        return self.account.whole.calls if self.tells_calls else None


def usage_of(record: RunRecord, prices: PriceTable | None = None) -> Usage:
    """Tokens, money, calls and seconds of one record (`prices` None: nothing has a known price)."""
    roles = accounts_by_role(record.calls, record.cell, prices)
    replayed = any(call.replayed for call in record.calls)
    return Usage(
        outcome=record.outcome,
        latency_seconds=record.latency_seconds,
        measured=record.outcome != "failed" and record.timed and not replayed and not record.warm_up,
        account=add_up(roles.values()),
        retrievals=len(record.retrievals),
        truncated=any(call.truncated for call in record.calls),
        replayed=replayed,
        warm_up=record.warm_up,
        hits=sum(len(one.hits) + len(one.dropped) for one in record.retrievals),
        roles=roles,
        tells_calls=record.counts_calls,
        tells_evidence=record.tells_evidence,
    )


@dataclass(frozen=True, slots=True)
class FailedKind:
    """Failures of one type in one cell: how many questions, and the message of the first."""

    questions: int
    message: str


@dataclass(slots=True)
class CellScores:
    """All scores of one cell, by question id, in the order of the records; and what its branches came to.

    `answers`: the words of each answer (None = none). `decisions` counts them, `controllers` holds them against gold.
    `judging`: the judges' calls on the answers, which are not among those of `usage`. `dropped`: model -> the settings
    that it refused, in the order met. `failed`: type of failure -> how often, and what the first of its kind said.
    `named`: documents that a foreign system says it retrieved; `unmapped` of them are not in the dataset.
    """

    cell: Cell
    scores: dict[str, tuple[Score, ...]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    failures: dict[str, FailureFinding] = field(default_factory=dict)
    answers: dict[str, str | None] = field(default_factory=dict)
    decisions: DecisionCounts = field(default_factory=DecisionCounts)
    controllers: ControllerCounts = field(default_factory=ControllerCounts)
    judging: Account = field(default_factory=Account)
    dropped: dict[str, dict[str, None]] = field(default_factory=dict)
    failed: dict[str, FailedKind] = field(default_factory=dict)
    named: int = 0
    unmapped: int = 0

    def note(self, case: Case) -> None:
        """Enter what is kept of a record beside its scores and its usage."""
        record = case.record
        self.answers[record.question_id] = record.answer.text if record.answer else None
        self.decisions.add(record)
        self.controllers.add(case)
        if record.cell.retrieval_mode in FOREIGN_MODES:
            named = [hit.doc_id for one in record.retrievals for hit in one.hits]
            self.named += len(named)
            self.unmapped += sum(doc_id.startswith(UNMAPPED) for doc_id in named)
        for call in record.calls:
            if call.dropped:
                self.dropped.setdefault(call.model, {}).update(dict.fromkeys(call.dropped))
        if record.failure is not None:
            before = self.failed.get(record.failure.type, FailedKind(0, record.failure.message))
            self.failed[record.failure.type] = FailedKind(before.questions + 1, before.message)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Every metric of every question of every cell. `judges`: how its judges judged (None = nothing was judged)."""

    cells: tuple[CellScores, ...]
    judges: Iterable[JudgeCount] | None = None

    def rows(self) -> Iterator[tuple[str, str, Score]]:
        """(cell key, question id, score), cell by cell."""
        for cell in self.cells:
            key = cell.cell.key
            for question_id, scores in cell.scores.items():
                for score in scores:
                    yield key, question_id, score


def by_metric(cell: CellScores) -> Mapping[str, list[Score]]:
    """The cell's scores regrouped: metric -> one score per question."""
    return grouped((score.metric, score) for scores in cell.scores.values() for score in scores)


SCORE_TYPES: Mapping[str, type] = {"cell": str, "question_id": str, "metric": str, "value": float, "reason": str}

_Column = tuple[type, Callable[[CellScores, str], object]]

_QUESTION_COLUMNS: Mapping[str, _Column] = {
    "cell": (str, lambda cell, _: cell.cell.key),
    "question_id": (str, lambda _, question_id: question_id),
    "outcome": (str, lambda cell, question_id: cell.usage[question_id].outcome),
    "failure": (str, lambda cell, question_id: getattr(cell.failures.get(question_id), "failure", None)),
    "hop": (int, lambda cell, question_id: getattr(cell.failures.get(question_id), "hop", None)),
    "document": (str, lambda cell, question_id: getattr(cell.failures.get(question_id), "doc_id", None)),
    "answer": (str, lambda cell, question_id: cell.answers[question_id]),
    "em": (float, lambda cell, question_id: _value(cell, question_id, "answer_em")),
    "f1": (float, lambda cell, question_id: _value(cell, question_id, "answer_f1")),
    "recall": (float, lambda cell, question_id: _value(cell, question_id, "retrieval_recall")),
    "input_tokens": (int, lambda cell, question_id: cell.usage[question_id].account.whole.input_tokens.value),
    "output_tokens": (int, lambda cell, question_id: cell.usage[question_id].account.whole.output_tokens.value),
    "calls": (int, lambda cell, question_id: cell.usage[question_id].calls),
    "retrievals": (int, lambda cell, question_id: _retrievals(cell.usage[question_id])),
    "seconds": (float, lambda cell, question_id: cell.usage[question_id].latency_seconds),
    "usd": (float, lambda cell, question_id: cell.usage[question_id].account.whole.usd.value),
    "measured": (bool, lambda cell, question_id: cell.usage[question_id].measured),
    "warm_up": (bool, lambda cell, question_id: cell.usage[question_id].warm_up),
    "truncated": (bool, lambda cell, question_id: cell.usage[question_id].truncated),
}
"""`failure`: the class of `arena.metrics.failures`; `hop`, `document`: where the evidence is first missing. `seconds`:
the latency, of unmeasured questions too. Tokens and `usd` count replayed calls; None = unknown."""

QUESTION_TYPES: Mapping[str, type] = {name: kind for name, (kind, _) in _QUESTION_COLUMNS.items()}


def _retrievals(usage: Usage) -> int | None:
    return usage.retrievals if usage.tells_evidence else None


def _value(cell: CellScores, question_id: str, metric: str) -> float | None:
    return next(score.value for score in cell.scores[question_id] if score.metric == metric)


def score_columns(table: ScoreTable) -> dict[str, Sequence[object]]:
    """A row per cell, question and metric."""
    rows = [(key, question_id, one.metric, one.value, one.reason) for key, question_id, one in table.rows()]
    return {name: [row[place] for row in rows] for place, name in enumerate(SCORE_TYPES)}


def question_columns(table: ScoreTable) -> dict[str, Sequence[object]]:
    """A row per cell and question."""
    rows = [(cell, question_id) for cell in table.cells for question_id in cell.scores]
    return {name: [value(*row) for row in rows] for name, (_, value) in _QUESTION_COLUMNS.items()}
