"""The metrics of the arena, in the order tables show them. Each scores one record; none averages or rounds."""

from __future__ import annotations

from collections.abc import Mapping

from arena.metrics.answer import (
    abstained,
    answered,
    contains,
    exact_match,
    lexical_citation_precision,
    rouge_l,
    supported_share,
    token_f1,
    uncited_statements,
)
from arena.metrics.case import Case, is_undefined
from arena.metrics.gaps import (
    answerable_gap,
    claim_gap,
    lookup_gap,
    sentence_gap,
    statement_gap,
    summary_gap,
    unanswerable_gap,
    writing_gap,
)
from arena.metrics.retrieval import (
    average_precision,
    evidence_availability,
    full_recall,
    hit_at_k,
    hop_coverage,
    ndcg_at_k,
    precision,
    precision_at_k,
    recall,
    recall_at_k,
    reciprocal_rank,
    set_f1,
    support_em,
    support_f1,
)
from arena.metrics.table import (
    MetricSpec,
    if_cited,
    of_answer,
    on_answer,
    on_chain,
    on_cited,
    on_cited_texts,
    on_cut,
    on_hop,
    on_ranking,
    on_retrieved,
    on_shown,
    on_used,
)
from arena.types import Score

__all__ = ["METRICS", "Case", "MetricSpec", "is_undefined", "score_record"]

_EVIDENCE = (
    on_used("retrieval_recall", "share of the gold documents that the answer was written from", recall),
    on_used("retrieval_precision", "share of the documents the answer was written from that are gold", precision),
    on_used("retrieval_f1", "harmonic mean of the two", set_f1),
    on_used("full_recall", "whether the answer was written from all gold documents", full_recall, binary=True),
    MetricSpec(
        "sentence_recall",
        "share of the gold sentences that stood in the prompt of the answer",
        sentence_gap,
        lambda case: sum(map(case.shows, case.gold.sentences)) / len(case.gold.sentences),
    ),
    on_retrieved("retrieved_recall", "share of the gold documents that any retrieval brought", recall),
    on_retrieved("retrieved_precision", "share of the documents that any retrieval brought that are gold", precision),
    on_cited("citation_recall", "share of the gold documents that the answer cites", recall),
    if_cited(on_cited("citation_precision", "share of the documents the answer cites that are gold", precision)),
)
_RANKING = (
    on_cut("recall_at_5", "share of the gold in the first 5 of the first retrieval", recall_at_k, 5),
    on_cut("recall_at_10", "share of the gold in the first 10 of the first retrieval", recall_at_k, 10),
    on_cut("hit_at_5", "whether any gold is in the first 5 of the first retrieval", hit_at_k, 5, binary=True),
    on_cut("precision_at_5", "share of the first 5 of the first retrieval that is gold", precision_at_k, 5),
    on_ranking("mrr", "1 / rank of the first gold document in the first retrieval", reciprocal_rank),
    on_cut("ndcg_at_10", "discounted gain of the first 10 of the first retrieval over the best", ndcg_at_k, 10),
    on_ranking("map", "mean precision at the ranks of the gold in the first retrieval", average_precision),
)
_HOPS = (
    on_chain("hop_coverage", "share of the hops before the first whose document was not shown", hop_coverage),
    *(on_hop(number) for number in (1, 2, 3, 4)),
)
_ANSWER = (
    on_answer("answer_em", "whether the answer equals a gold answer, normalised", exact_match, binary=True),
    on_answer("answer_f1", "overlap of the answer's tokens with a gold answer's", token_f1),
    on_answer("answer_contains", "whether a gold answer stands in the answer", contains, binary=True),
    on_used("support_em", "whether the documents shown are the gold ones and no others", support_em, binary=True),
    on_used("support_f1", "retrieval_f1 under MuSiQue's name", support_f1),
    on_answer("rouge_l", "longest common subsequence with a reference summary", rouge_l, gap=summary_gap),
)
_STATEMENTS = (
    MetricSpec(
        "evidence_availability",
        "share of the reference's claims all of whose documents any retrieval brought",
        claim_gap,
        of_answer(lambda answer, gold: evidence_availability(answer.retrieved_ids, gold.claims)),
    ),
    MetricSpec(
        "lexical_faithfulness",
        "share of the answer's sentences whose words stand in the texts shown",
        lookup_gap,
        on_shown(supported_share),
        proxy_for="faithfulness",
    ),
    MetricSpec(
        "lexical_citation_recall",
        "share of the answer's sentences whose words stand in the texts cited",
        lookup_gap,
        on_cited_texts(supported_share),
    ),
    if_cited(
        MetricSpec(
            "lexical_citation_precision",
            "share of the texts cited that hold the words of a sentence of the answer",
            lookup_gap,
            on_cited_texts(lexical_citation_precision),
        )
    ),
    MetricSpec(
        "uncited_statements",
        "share of the answer's sentences without a citation",
        statement_gap,
        of_answer(lambda answer, _: uncited_statements(answer.text or "", answer.cited_ids)),
        binary=True,
        higher_is_better=False,
    ),
)
_ABSTENTION = (
    MetricSpec("answer_rate", "whether the question was answered at all", writing_gap, answered, binary=True),
    MetricSpec("correct_abstention", "abstained, where there is no answer", unanswerable_gap, abstained, binary=True),
    MetricSpec(
        "false_abstention",
        "abstained, where there is an answer",
        answerable_gap,
        abstained,
        binary=True,
        higher_is_better=False,
    ),
    MetricSpec(
        "unsupported_claim",
        "answered, where there is no answer",
        unanswerable_gap,
        answered,
        binary=True,
        higher_is_better=False,
    ),
)

METRICS: Mapping[str, MetricSpec] = {
    spec.name: spec for spec in (*_EVIDENCE, *_RANKING, *_HOPS, *_ANSWER, *_STATEMENTS, *_ABSTENTION)
}


def score_record(case: Case) -> tuple[Score, ...]:
    """Every metric on one record, in the order of METRICS."""
    return tuple(spec.score(case) for spec in METRICS.values())
