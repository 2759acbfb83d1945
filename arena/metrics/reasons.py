"""Why a score has no value: codes for `Score.reason`.

Undefined: this record has no such score to be had; it leaves the mean and its n. Most of these follow from the question
or from the cell; what follows from the answer (it abstains, cites nothing, has no words) has a metric of its own.
Missing: there is a score to be had, but this run did not get it; it counts against coverage.
"""

from __future__ import annotations

NO_GOLD = "no_gold"  # the dataset names no supporting documents
NO_SENTENCES = "no_sentences"  # the dataset does not say which sentences carry the evidence
NO_CLAIMS = "no_claims"  # the reference is not annotated claim by claim
NO_HOP_ORDER = "no_hop_order"  # the dataset does not say which document serves which hop
FEWER_HOPS = "fewer_hops"  # the question has no hop of that number
UNANSWERABLE = "unanswerable"  # there is no right answer to compare with
ANSWERABLE = "answerable"  # there is a right answer: abstaining cannot be correct
NOT_A_SPAN = "not_a_span"  # the reference is prose: string overlap would measure style
NOT_A_SUMMARY = "not_a_summary"  # the reference is a span, not prose
NO_ANSWER_BY_DESIGN = "no_answer_by_design"  # the strategy only retrieves
NO_RETRIEVAL = "no_retrieval"  # the cell has no retriever (closed book)
GOLD_BY_CONSTRUCTION = "gold_by_construction"  # the retriever was handed the gold: nothing was ranked
CUT_BEYOND_K = "cut_beyond_k"  # the cell asks for fewer passages than the metric looks at
ABSTAINED = "abstained"  # the answer claims nothing, of which it could be asked whether it is supported
NO_CONTENT = "no_content"  # the answer has no words but stop words
NO_CITATIONS = "no_citations"  # the answer cites nothing

FAILED = "failed"  # the record is a failure
TEXT_UNKNOWN = "text_unknown"  # it is not known which texts were shown
NOT_JUDGED = "not_judged"  # no judge was asked, or it gave no verdict
PARTLY_JUDGED = "partly_judged"  # the judge gave a verdict on some parts only
JUDGE_FAILED = "judge_failed"  # the judge's calls failed, or could not be read

MISSING = frozenset({FAILED, TEXT_UNKNOWN, NOT_JUDGED, PARTLY_JUDGED, JUDGE_FAILED})

UNDEFINED = frozenset(
    {
        *(
            NO_GOLD,
            NO_SENTENCES,
            NO_CLAIMS,
            NO_HOP_ORDER,
            FEWER_HOPS,
            UNANSWERABLE,
            ANSWERABLE,
            NOT_A_SPAN,
            NOT_A_SUMMARY,
        ),
        *(NO_ANSWER_BY_DESIGN, NO_RETRIEVAL, GOLD_BY_CONSTRUCTION, CUT_BEYOND_K),
        *(ABSTAINED, NO_CONTENT, NO_CITATIONS),
    }
)


def is_undefined(reason: str | None) -> bool:
    """Whether a score with this reason is undefined, not missing. A score with a value has no reason: False."""
    return reason in UNDEFINED
