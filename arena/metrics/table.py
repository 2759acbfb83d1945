"""The table of metrics, family by family: what each looks at, how it is computed, and when it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from arena.metrics.answer import worth_of_abstaining
from arena.metrics.case import Case
from arena.metrics.gaps import (
    Gap,
    answer_gap,
    citation_gap,
    citing_gap,
    cut_gap,
    evidence_gap,
    hop_gap,
    ranking_gap,
)
from arena.metrics.retrieval import hop_recall
from arena.types import Answer, Gold, JudgeMetric, Score

Measure = Callable[[Case], float | None]


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One row of the table of metrics.

    `gap` gives the reason why a record has no value, None when it has one; `measure` is asked only then.
    `binary`: every value is 0 or 1, which decides how its confidence interval is worked out. `higher_is_better`: False
    for what counts faults. `proxy_for`: what a judge says better, and this without a model.
    """

    name: str
    summary: str
    gap: Gap
    measure: Measure
    binary: bool = False
    higher_is_better: bool = True
    proxy_for: JudgeMetric | None = None

    def score(self, case: Case) -> Score:
        """This metric on one record."""
        reason = self.gap(case)
        if reason is not None:
            return Score(self.name, None, reason)
        return Score(self.name, self.measure(case))


Matching = Callable[[Sequence[str], Sequence[str]], float | None]
"""Of the ids the system came up with, then of those that are right."""


class TextComparison(Protocol):
    """Of the answer's text with those that are right; `official`: see `arena.metrics.answer`."""

    def __call__(self, prediction: str, answers: Sequence[str], /, *, official: bool) -> float | None: ...


Wording = Callable[[str, Sequence[str]], float | None]
"""Of the answer's text, then of the texts it is held against."""


def of_answer(metric: Callable[[Answer, Gold], float | None]) -> Measure:
    """`metric(answer, gold)` of a completed record; a failed one has no value."""

    def measure(case: Case) -> float | None:
        return metric(case.record.answer, case.gold) if case.record.answer else None

    return measure


def on_used(name: str, summary: str, metric: Matching, *, binary: bool = False) -> MetricSpec:
    """`metric(used_ids, supporting_ids)` on what was shown to the call that wrote the answer."""
    measure = of_answer(lambda answer, gold: metric(answer.used_ids, gold.supporting_ids))
    return MetricSpec(name, summary, evidence_gap, measure, binary)


def on_retrieved(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(retrieved_ids, supporting_ids)` on everything that any retrieval brought."""
    measure = of_answer(lambda answer, gold: metric(answer.retrieved_ids, gold.supporting_ids))
    return MetricSpec(name, summary, evidence_gap, measure)


def on_cited(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(cited_ids, supporting_ids)` on what the answer points to."""
    measure = of_answer(lambda answer, gold: metric(answer.cited_ids, gold.supporting_ids))
    return MetricSpec(name, summary, citing_gap, measure)


def if_cited(spec: MetricSpec) -> MetricSpec:
    """`spec`, undefined where the answer cites nothing."""
    return replace(spec, gap=partial(citation_gap, gap=spec.gap))


def on_ranking(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(ranked_ids, supporting_ids)` on the hits of the first retrieval; on nothing, if there was none."""

    def measure(case: Case) -> float | None:
        retrievals = case.record.retrievals
        hits = retrievals[0].hits if retrievals else ()
        return metric([hit.doc_id for hit in hits], case.gold.supporting_ids)

    return MetricSpec(name, summary, ranking_gap, measure)


def on_cut(
    name: str,
    summary: str,
    metric: Callable[[Sequence[str], Sequence[str], int], float | None],
    k: int,
    *,
    binary: bool = False,
) -> MetricSpec:
    """`metric(ranked_ids, supporting_ids, k)` on the first retrieval, save in cells that ask for fewer than k."""
    spec = on_ranking(name, summary, lambda ranked, gold: metric(ranked, gold, k))
    return replace(spec, gap=partial(cut_gap, k=k), binary=binary)


def on_chain(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(used_ids, hop_order)` on what was shown, hop by hop of the decomposition."""
    return MetricSpec(
        name, summary, hop_gap, of_answer(lambda answer, gold: metric(answer.used_ids, gold.hop_order or ()))
    )


def on_hop(number: int) -> MetricSpec:
    """Whether the document of hop `number` was shown, in questions that have such a hop."""
    spec = on_chain(
        f"hop_{number}_recall",
        f"whether the document of hop {number} was shown to the call that wrote the answer",
        lambda used, hop_order: hop_recall(used, hop_order, number),
    )
    return replace(spec, gap=partial(hop_gap, number=number), binary=True)


def on_answer(
    name: str, summary: str, metric: TextComparison, *, gap: Gap = answer_gap, binary: bool = False
) -> MetricSpec:
    """`metric(prediction, answers, official=...)` on the answer's words; one that abstains: `worth_of_abstaining`."""
    compared = of_answer(lambda answer, gold: metric(answer.text or "", gold.answers, official=gold.official))

    def measure(case: Case) -> float | None:
        worth = worth_of_abstaining(case)
        return compared(case) if worth is None else worth

    return MetricSpec(name, summary, gap, measure, binary)


def on_shown(metric: Wording) -> Measure:
    """`metric(text, texts)` on the answer and the texts that were shown to the call that wrote it."""

    def measure(case: Case) -> float | None:
        answer, shown = case.record.answer, case.shown
        return metric(answer.text or "", tuple(shown.values())) if answer and shown is not None else None

    return measure


def on_cited_texts(metric: Wording) -> Measure:
    """`metric(text, texts)` on the answer and the texts that it cites; what was not shown is cited as an empty text."""

    def measure(case: Case) -> float | None:
        answer, shown = case.record.answer, case.shown
        if answer is None or shown is None:
            return None
        return metric(answer.text or "", [shown.get(doc_id, "") for doc_id in dict.fromkeys(answer.cited_ids)])

    return measure
