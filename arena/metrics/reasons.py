"""Why a score has no value: codes for `Score.reason`.

Undefined: the question has no such score, whatever the system had done; it leaves the mean and its n.
Missing: there is a score to be had, but this run did not get it; it counts against coverage.
"""

from __future__ import annotations

NO_GOLD = "no_gold"  # the dataset names no supporting documents
UNANSWERABLE = "unanswerable"  # there is no right answer to compare with
NOT_A_SPAN = "not_a_span"  # the reference is prose: string overlap would measure style
NO_ANSWER_BY_DESIGN = "no_answer_by_design"  # the strategy only retrieves
NO_RETRIEVAL = "no_retrieval"  # the cell has no retriever (closed book)
GOLD_BY_CONSTRUCTION = "gold_by_construction"  # the retriever was handed the gold: nothing was ranked
CUT_BEYOND_K = "cut_beyond_k"  # fewer passages were asked for than the metric looks at

FAILED = "failed"  # the record is a failure

UNDEFINED = frozenset(
    {NO_GOLD, UNANSWERABLE, NOT_A_SPAN, NO_ANSWER_BY_DESIGN, NO_RETRIEVAL, GOLD_BY_CONSTRUCTION, CUT_BEYOND_K}
)


def is_undefined(reason: str | None) -> bool:
    """Whether a score with this reason is undefined, not missing. A score with a value has no reason: False."""
    return reason in UNDEFINED
