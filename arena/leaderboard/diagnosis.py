"""Why the answers of a cell are wrong, one class per question, and what its figures are symptoms of.

Every threshold is ours: no paper sets them. They tell a figure that explains bad answers from one that does not, and
no more; a cell at a border is read by its figures, which are always shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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

Figures = dict[str, float]
"""Metric -> value; empty = there is nothing to read."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The figures of a cell, as far as they may be read.

    Judged faithfulness and accuracy are read where they are, else the lexical test and answer F1. What a control is
    handed, by its `retrieval_mode`, is no symptom. `tokens`, `typical_tokens`: input and output per question, of the
    cell and of the run's typical cell; None = not known.
    """

    metrics: Mapping[str, MetricSummary]
    retrieval_mode: str
    failures: FailureSummary | None = None
    tokens: float | None = None
    typical_tokens: float | None = None

    def of(self, metric: str) -> Figures:
        """The mean of a metric under its name; empty where it is undefined, withheld, or of too few questions."""
        summary = self.metrics.get(metric)
        if summary is None or summary.mean is None or summary.n < MIN_QUESTIONS:
            return {}
        return {metric: summary.mean}

    def first_of(self, *metrics: str) -> Figures:
        """The first of several metrics that can be read."""
        return next((found for metric in metrics if (found := self.of(metric))), {})


def _low(figures: Figures, limit: float) -> bool:
    """Whether there is a figure, and it is below the limit."""
    return any(value < limit for value in figures.values())


def _fine(figures: Figures, limit: float) -> bool:
    return any(value >= limit for value in figures.values())


def _low_recall(signs: Signs) -> Figures | None:
    recall = signs.of("retrieval_recall")
    return recall if _low(recall, FINE_RECALL) and signs.retrieval_mode != GOLD_MODE else None


def _noise(signs: Signs) -> Figures | None:
    recall, precision = signs.of("retrieval_recall"), signs.of("retrieval_precision")
    return recall | precision if _fine(recall, FINE_RECALL) and _low(precision, LOW_PRECISION) else None


def _unfaithful(signs: Signs) -> Figures | None:
    recall, precision = signs.of("retrieval_recall"), signs.of("retrieval_precision")
    faithful = signs.first_of("faithfulness", "lexical_faithfulness")
    evident = _fine(recall, FINE_RECALL) and _fine(precision, LOW_PRECISION)
    return recall | precision | faithful if evident and _low(faithful, FINE_FAITHFULNESS) else None


def _beside_the_point(signs: Signs) -> Figures | None:
    recall, faithful = signs.of("retrieval_recall"), signs.first_of("faithfulness", "lexical_faithfulness")
    answer = signs.first_of("answer_accuracy", "answer_f1")
    grounded = _fine(recall, FINE_RECALL) and _fine(faithful, FINE_FAITHFULNESS)
    return recall | faithful | answer if grounded and _low(answer, LOW_ANSWER) else None


def _late(signs: Signs) -> Figures | None:
    recall, mrr = signs.of("retrieval_recall"), signs.of("mrr")
    return recall | mrr if _fine(recall, FINE_RECALL) and _low(mrr, LOW_MRR) else None


def _dear_noise(signs: Signs) -> Figures | None:
    precision = signs.of("retrieval_precision")
    if not _low(precision, LOW_PRECISION) or signs.tokens is None or not signs.typical_tokens:
        return None
    times = signs.tokens / signs.typical_tokens
    return precision | {"tokens_to_typical": times} if times >= COSTLY else None


def _answers_anything(signs: Signs) -> Figures | None:
    unsupported = signs.of("unsupported_claim")
    return unsupported if _fine(unsupported, OFTEN_UNSUPPORTED) else None


def _refuses(signs: Signs) -> Figures | None:
    evidence_is_named = signs.of("retrieval_recall")
    if signs.failures is None or signs.failures.n_questions < MIN_QUESTIONS or not evidence_is_named:
        return None
    refused = sum(count.n for count in signs.failures.counts if count.failure == "false_abstention")
    share = {"refused_with_evidence": refused / signs.failures.n_questions}
    return share if _fine(share, OFTEN_REFUSED) else None


SYMPTOMS: Mapping[str, Callable[[Signs], Figures | None]] = {
    "low_recall": _low_recall,
    "noisy_context": _noise,
    "unfaithful_reader": _unfaithful,
    "beside_the_point": _beside_the_point,
    "evidence_ranked_late": _late,
    "paying_for_noise": _dear_noise,
    "answers_the_unanswerable": _answers_anything,
    "refuses_the_answerable": _refuses,
}
"""Symptom -> the figures that show it, None or nothing where they do not. From the evidence to the answer."""


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
    return [
        Symptom(name=name, **meanings()[name], figures=figures)
        for name, find in SYMPTOMS.items()
        if (figures := find(signs))
    ]


def typical_tokens(cells: Iterable[tuple[str, float | None]]) -> float | None:
    """The lower median of the tokens per question of cells (retrieval mode, tokens) that retrieve and ask a model.

    None where there are fewer than two: a cell is not dear beside itself.
    """
    spent = [tokens for mode, tokens in cells if mode not in (GOLD_MODE, NO_RETRIEVAL_MODE) and tokens]
    return median_low(spent) if len(spent) > 1 else None
