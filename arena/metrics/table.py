"""The table of metrics, family by family: what each looks at, how it is computed, and when it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from arena.metrics import answer as words
from arena.metrics import gaps
from arena.metrics import retrieval as docs
from arena.metrics.case import Case
from arena.metrics.gaps import Gap, Wording
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
        return Score(self.name, self.measure(case) if reason is None else None, reason)


_is_fault = partial(MetricSpec, binary=True, higher_is_better=False)

Matching = Callable[[Sequence[str], Sequence[str]], float | None]
"""Of the ids the system came up with, then of those that are right."""


class TextComparison(Protocol):
    """Of the answer's text with those that are right; `official`: see `arena.metrics.answer`."""

    def __call__(self, prediction: str, answers: Sequence[str], /, *, official: bool) -> float | None: ...


def of_answer(metric: Callable[[Answer, Gold], float | None]) -> Measure:
    """`metric(answer, gold)` of a completed record; a failed one has no value."""

    def measure(case: Case) -> float | None:
        return metric(case.record.answer, case.gold) if case.record.answer else None

    return measure


def _on_documents(
    stage: Literal["used_ids", "retrieved_ids", "cited_ids"],
    name: str,
    summary: str,
    metric: Matching,
    *,
    gap: Gap = gaps.evidence_gap,
    binary: bool = False,
) -> MetricSpec:
    """`metric(ids, supporting_ids)` on one stage of an answer's evidence; see `Answer`."""
    measure = of_answer(lambda answer, gold: metric(getattr(answer, stage), gold.supporting_ids))
    return MetricSpec(name, summary, gap, measure, binary)


on_used = partial(_on_documents, "used_ids")
on_retrieved = partial(_on_documents, "retrieved_ids")
on_cited = partial(_on_documents, "cited_ids", gap=gaps.citing_gap)


def if_cited(spec: MetricSpec) -> MetricSpec:
    """`spec`, undefined where the answer cites nothing."""
    return replace(spec, gap=partial(gaps.citation_gap, gap=spec.gap))


def on_ranking(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(ranked_ids, supporting_ids)` on the hits of the first retrieval; on nothing, if there was none."""

    def measure(case: Case) -> float | None:
        retrievals = case.record.retrievals
        hits = retrievals[0].hits if retrievals else ()
        return metric([hit.doc_id for hit in hits], case.gold.supporting_ids)

    return MetricSpec(name, summary, gaps.ranking_gap, measure)


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
    return replace(spec, gap=partial(gaps.cut_gap, k=k), binary=binary)


def on_chain(name: str, summary: str, metric: Matching) -> MetricSpec:
    """`metric(used_ids, hop_order)` on what was shown, hop by hop of the decomposition."""
    return MetricSpec(
        name, summary, gaps.hop_gap, of_answer(lambda answer, gold: metric(answer.used_ids, gold.hop_order or ()))
    )


def on_hop(number: int) -> MetricSpec:
    """Whether the document of hop `number` was shown, in questions that have such a hop."""
    spec = on_chain(
        f"hop_{number}_recall",
        f"whether the document of hop {number} was shown to the call that wrote the answer",
        lambda used, hop_order: docs.hop_recall(used, hop_order, number),
    )
    return replace(spec, gap=partial(gaps.hop_gap, number=number), binary=True)


def on_answer(
    name: str, summary: str, metric: TextComparison, *, gap: Gap = gaps.answer_gap, binary: bool = False
) -> MetricSpec:
    """`metric(prediction, answers, official=...)` on the answer's words; one that abstains: `worth_of_abstaining`."""
    compared = of_answer(lambda answer, gold: metric(answer.text or "", gold.answers, official=gold.official))

    def measure(case: Case) -> float | None:
        worth = words.worth_of_abstaining(case)
        return compared(case) if worth is None else worth

    return MetricSpec(name, summary, gap, measure, binary)


def on_shown(metric: Wording, *, cited: bool = False) -> Measure:
    """`metric(text, texts)` on the answer and the texts that were shown to the call that wrote it.

    `cited`: on the texts that the answer cites; what was not shown is cited as an empty text.
    """

    def measure(case: Case) -> float | None:
        answer, shown = case.record.answer, case.shown
        if answer is None or shown is None:
            return None
        of_cited = (shown.get(doc_id, "") for doc_id in dict.fromkeys(answer.cited_ids))
        return metric(answer.text or "", tuple(of_cited if cited else shown.values()))

    return measure


_EVIDENCE = (
    on_used("retrieval_recall", "share of the gold documents that the answer was written from", docs.recall),
    on_used("retrieval_precision", "share of the documents the answer was written from that are gold", docs.precision),
    on_used("retrieval_f1", "harmonic mean of the two", docs.set_f1),
    on_used("full_recall", "whether the answer was written from all gold documents", docs.full_recall, binary=True),
    MetricSpec(
        "sentence_recall",
        "share of the gold sentences that stood in the prompt of the answer",
        gaps.sentence_gap,
        lambda case: sum(map(case.shows, case.gold.sentences)) / len(case.gold.sentences),
    ),
    on_retrieved("retrieved_recall", "share of the gold documents that any retrieval brought", docs.recall),
    on_retrieved(
        "retrieved_precision", "share of the documents that any retrieval brought that are gold", docs.precision
    ),
    on_cited("citation_recall", "share of the gold documents that the answer cites", docs.recall),
    if_cited(on_cited("citation_precision", "share of the documents the answer cites that are gold", docs.precision)),
)
_RANKING = (
    on_cut("recall_at_5", "share of the gold in the first 5 of the first retrieval", docs.recall_at_k, 5),
    on_cut("recall_at_10", "share of the gold in the first 10 of the first retrieval", docs.recall_at_k, 10),
    on_cut("hit_at_5", "whether any gold is in the first 5 of the first retrieval", docs.hit_at_k, 5, binary=True),
    on_cut("precision_at_5", "share of the first 5 of the first retrieval that is gold", docs.precision_at_k, 5),
    on_ranking("mrr", "1 / rank of the first gold document in the first retrieval", docs.reciprocal_rank),
    on_cut("ndcg_at_10", "discounted gain of the first 10 of the first retrieval over the best", docs.ndcg_at_k, 10),
    on_ranking("map", "mean precision at the ranks of the gold in the first retrieval", docs.average_precision),
)
_HOPS = (
    on_chain("hop_coverage", "share of the hops before the first whose document was not shown", docs.hop_coverage),
    *(on_hop(number) for number in (1, 2, 3, 4)),
)
_ANSWER = (
    on_answer("answer_em", "whether the answer equals a gold answer, normalised", words.exact_match, binary=True),
    on_answer("answer_f1", "overlap of the answer's tokens with a gold answer's", words.token_f1),
    on_answer("answer_contains", "whether a gold answer stands in the answer", words.contains, binary=True),
    on_used("support_em", "whether the documents shown are the gold ones and no others", docs.support_em, binary=True),
    on_used("support_f1", "retrieval_f1 under MuSiQue's name", docs.support_f1),
    on_answer("rouge_l", "longest common subsequence with a reference summary", words.rouge_l, gap=gaps.summary_gap),
)
_STATEMENTS = (
    MetricSpec(
        "evidence_availability",
        "share of the reference's claims all of whose documents any retrieval brought",
        gaps.claim_gap,
        of_answer(lambda answer, gold: docs.evidence_availability(answer.retrieved_ids, gold.claims)),
    ),
    MetricSpec(
        "lexical_faithfulness",
        "share of the answer's sentences whose words stand in the texts shown",
        gaps.lookup_gap,
        on_shown(words.supported_share),
        proxy_for="faithfulness",
    ),
    MetricSpec(
        "lexical_citation_recall",
        "share of the answer's sentences whose words stand in the texts cited",
        gaps.lookup_gap,
        on_shown(words.supported_share, cited=True),
    ),
    if_cited(
        MetricSpec(
            "lexical_citation_precision",
            "share of the texts cited that hold the words of a sentence of the answer",
            gaps.lookup_gap,
            on_shown(words.lexical_citation_precision, cited=True),
        )
    ),
    _is_fault(
        "uncited_statements",
        "share of the answer's sentences without a citation",
        gaps.statement_gap,
        of_answer(lambda answer, _: words.uncited_statements(answer.text or "", answer.cited_ids)),
    ),
)
_ABSTENTION = (
    MetricSpec(
        "answer_rate", "whether the question was answered at all", gaps.writing_gap, words.answered, binary=True
    ),
    MetricSpec(
        "correct_abstention", "abstained, where there is no answer", gaps.unanswerable_gap, words.abstained, binary=True
    ),
    _is_fault("false_abstention", "abstained, where there is an answer", gaps.answerable_gap, words.abstained),
    _is_fault("unsupported_claim", "answered, where there is no answer", gaps.unanswerable_gap, words.answered),
)

METRICS: Mapping[str, MetricSpec] = {
    spec.name: spec for spec in (*_EVIDENCE, *_RANKING, *_HOPS, *_ANSWER, *_STATEMENTS, *_ABSTENTION)
}


def score_record(case: Case) -> tuple[Score, ...]:
    """Every metric on one record, in the order of METRICS."""
    return tuple(spec.score(case) for spec in METRICS.values())
