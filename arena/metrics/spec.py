"""A metric as the arena applies it: pure arithmetic, and when it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from arena.metrics.gaps import answer_gap, cut_gap, ranking_gap, used_gap
from arena.types import Gold, Question, RunRecord, Score

Gap = Callable[[RunRecord, Question, Gold], str | None]
Measure = Callable[[RunRecord, Gold], float | None]


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One row of the table of metrics.

    `gap` gives the reason why a record has no value, None when it has one; `measure` is asked only then.
    `binary`: every value is 0 or 1, which decides how its confidence interval is worked out.
    """

    name: str
    summary: str
    gap: Gap
    measure: Measure
    binary: bool = False

    def score(self, record: RunRecord, question: Question, gold: Gold) -> Score:
        """This metric on one record. `question` and `gold` are those of `record.question_id`."""
        reason = self.gap(record, question, gold)
        if reason is not None:
            return Score(self.name, None, reason)
        return Score(self.name, self.measure(record, gold))


def on_used(
    name: str, summary: str, metric: Callable[[Sequence[str], Sequence[str]], float | None], *, binary: bool = False
) -> MetricSpec:
    """`metric(used_ids, supporting_ids)` on what was shown to the call that wrote the answer."""

    def measure(record: RunRecord, gold: Gold) -> float | None:
        return metric(record.answer.used_ids, gold.supporting_ids) if record.answer else None

    return MetricSpec(name, summary, used_gap, measure, binary)


def on_ranking(name: str, summary: str, metric: Callable[[Sequence[str], Sequence[str]], float | None]) -> MetricSpec:
    """`metric(ranked_ids, supporting_ids)` on the hits of the first retrieval; on nothing, if there was none."""

    def measure(record: RunRecord, gold: Gold) -> float | None:
        hits = record.retrievals[0].hits if record.retrievals else ()
        return metric([hit.doc_id for hit in hits], gold.supporting_ids)

    return MetricSpec(name, summary, ranking_gap, measure)


def on_cut(
    name: str,
    summary: str,
    metric: Callable[[Sequence[str], Sequence[str], int], float | None],
    k: int,
    *,
    binary: bool = False,
) -> MetricSpec:
    """`metric(ranked_ids, supporting_ids, k)` on the first retrieval, in cells that ask for at least k passages."""

    def gap(record: RunRecord, question: Question, gold: Gold) -> str | None:
        return cut_gap(record, question, gold, k)

    spec = on_ranking(name, summary, lambda ranked, gold: metric(ranked, gold, k))
    return replace(spec, gap=gap, binary=binary)


def on_answer(
    name: str, summary: str, metric: Callable[[str, Sequence[str]], float | None], *, binary: bool = False
) -> MetricSpec:
    """`metric(prediction, answers)` on the answer's words; an abstention scores 0.0, whatever it says."""

    def measure(record: RunRecord, gold: Gold) -> float | None:
        if record.answer is None:
            return None
        return 0.0 if record.answer.abstained else metric(record.answer.text or "", gold.answers)

    return MetricSpec(name, summary, answer_gap, measure, binary)
