"""Why the answers of a cell are wrong, one class per question, and what its figures are symptoms of.

Every threshold is ours: no paper sets them. They tell a figure that explains bad answers from one that does not, and
no more; a cell at a border is read by its figures, which are always shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median_low

from pydantic import Field

from arena.files import read_yaml_file
from arena.leaderboard.schema import MetricSummary, Row
from arena.metrics.failures import FailureFinding, failure_classes
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE


class FailureCount(Row):
    """Questions of one class of `arena.metrics.failures`, the right ones included."""

    failure: str
    n: int = Field(ge=1)


class FailureSummary(Row):
    """The waterfall of a cell: classes in the order of the table, those without a question left out; sums to n.

    `broken_hops`: number of the hop (from 1) whose evidence was the first missing one -> wrongly answered questions.
    """

    counts: list[FailureCount]
    broken_hops: dict[int, int] = Field(default_factory=dict)

    @property
    def n_questions(self) -> int:
        return sum(count.n for count in self.counts)


def summarise_failures(findings: Iterable[FailureFinding]) -> FailureSummary:
    """The waterfall of the findings of one cell, one per question. Raises KeyError for a class not in the table."""
    counts = dict.fromkeys(failure_classes(), 0)
    hops: Counter[int] = Counter()
    for finding in findings:
        counts[finding.failure] += 1
        if finding.hop is not None:
            hops[finding.hop] += 1
    return FailureSummary(
        counts=[FailureCount(failure=name, n=n) for name, n in counts.items() if n],
        broken_hops=dict(sorted(hops.items())),
    )


MIN_QUESTIONS = 10
"""Fewer say nothing: of ten, a share of one half is known to within 0.3 either way."""
FINE_RECALL = 0.7
"""Below, three of ten pieces of evidence never reach the reader, and no reader can make up for it."""
LOW_PRECISION = 0.25
"""Below, three of four documents shown are no evidence."""
LOW_MRR = 0.5
"""Below, the first evidence stands behind the second place on average (in the harmonic mean)."""
FINE_FAITHFULNESS = 0.7
"""Below, three of ten statements are not in what was shown."""
LOW_ANSWER = 0.4
"""Answer F1 or accuracy below which most answers are not the one asked for."""
OFTEN_UNSUPPORTED = 0.3
"""Share of unanswerable questions that are answered, from which on the reader does not know when to stop."""
OFTEN_REFUSED = 0.1
"""Share of all questions that were refused with all evidence in sight; each is an answer given away."""
COSTLY = 2.0
"""Times the tokens of the run's typical cell."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The figures of a cell, as far as they may be read.

    What a control is handed, by its `retrieval_mode`, is no symptom. `tokens`, `typical_tokens`: input and output per
    question, of the cell and of the run's typical cell; None = not known.
    """

    metrics: Mapping[str, MetricSummary]
    retrieval_mode: str
    failures: FailureSummary | None = None
    tokens: float | None = None
    typical_tokens: float | None = None

    def of(self, name: str) -> float | None:
        """The mean of a metric, or one of two figures of its own; None: undefined, withheld, of too few questions."""
        if name == "tokens_to_typical":
            return self.tokens / self.typical_tokens if self.tokens is not None and self.typical_tokens else None
        if name == "refused_with_evidence":
            return self._refused()
        summary = self.metrics.get(name)
        return None if summary is None or summary.n < MIN_QUESTIONS else summary.mean

    def first_of(self, *names: str) -> dict[str, float]:
        """The first of several figures that can be read, under its name."""
        return dict([(name, value) for name in names if (value := self.of(name)) is not None][:1])

    def _refused(self) -> float | None:
        """Of all questions; None also where no evidence is named, so that nobody can say that it was in sight."""
        n = self.failures.n_questions if self.failures else 0
        if self.failures is None or n < MIN_QUESTIONS or self.of("retrieval_recall") is None:
            return None
        return sum(count.n for count in self.failures.counts if count.failure == "false_abstention") / n


Condition = Callable[[Signs], dict[str, float]]
"""The figure that meets it, under its name; nothing where none does."""


def _below(limit: float, *names: str) -> Condition:
    """That the first of these figures which can be read is below the limit."""
    return lambda signs: {name: value for name, value in signs.first_of(*names).items() if value < limit}


def _at_least(limit: float, *names: str) -> Condition:
    return lambda signs: {name: value for name, value in signs.first_of(*names).items() if value >= limit}


_FOUND = _at_least(FINE_RECALL, "retrieval_recall")
_NOISY = _below(LOW_PRECISION, "retrieval_precision")
_CLEAN = _at_least(LOW_PRECISION, "retrieval_precision")
_FAITHFULNESS = ("faithfulness", "lexical_faithfulness")

SYMPTOMS: Mapping[str, Sequence[Condition]] = {
    "low_recall": [_below(FINE_RECALL, "retrieval_recall")],
    "noisy_context": [_FOUND, _NOISY],
    "unfaithful_reader": [_FOUND, _CLEAN, _below(FINE_FAITHFULNESS, *_FAITHFULNESS)],
    "beside_the_point": [
        _FOUND,
        _at_least(FINE_FAITHFULNESS, *_FAITHFULNESS),
        _below(LOW_ANSWER, "answer_accuracy", "answer_f1"),
    ],
    "evidence_ranked_late": [_FOUND, _below(LOW_MRR, "mrr")],
    "paying_for_noise": [_NOISY, _at_least(COSTLY, "tokens_to_typical")],
    "answers_the_unanswerable": [_at_least(OFTEN_UNSUPPORTED, "unsupported_claim")],
    "refuses_the_answerable": [_at_least(OFTEN_REFUSED, "refused_with_evidence")],
}
"""Symptom -> what must hold, all of it. From the evidence to the answer; a judge goes before what stands in for it."""


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """Symptom -> its `reading`, and `where_to_act`."""
    read: Mapping[str, Mapping[str, str]] = read_yaml_file(Path(__file__).with_name("symptoms.yaml"), "symptoms")
    return read


class Symptom(Row):
    """One row of the symptom table that applies. `figures`: metric -> the value that triggered it."""

    name: str
    reading: str
    where_to_act: str
    figures: dict[str, float]


def diagnose(signs: Signs) -> list[Symptom]:
    """The symptoms of one cell, in the order of the table."""
    found = []
    for name, conditions in SYMPTOMS.items():
        shown = [condition(signs) for condition in conditions]
        if all(shown) and not (name == "low_recall" and signs.retrieval_mode == GOLD_MODE):
            figures = {metric: value for one in shown for metric, value in one.items()}
            found.append(Symptom(name=name, **meanings()[name], figures=figures))
    return found


def typical_tokens(cells: Iterable[tuple[str, float | None]]) -> float | None:
    """The lower median of the tokens per question of cells (retrieval mode, tokens) that retrieve and ask a model.

    None where there are fewer than two: a cell is not dear beside itself.
    """
    spent = [tokens for mode, tokens in cells if mode not in (GOLD_MODE, NO_RETRIEVAL_MODE) and tokens]
    return median_low(spent) if len(spent) > 1 else None
