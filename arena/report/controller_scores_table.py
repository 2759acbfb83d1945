"""What controllers were worth, as sentences below their branches."""

from __future__ import annotations

from collections.abc import Iterator

from arena.report.controller_scores import ControllerScores, GraderScores, RewriteScores, RouteConfusion
from arena.report.figures import UNDEFINED


def controller_score_lines(scores: ControllerScores) -> Iterator[str]:
    """A sentence for each grader, for each standard a router is held against, for rewriting, and for waste."""
    yield from map(_grader, scores.graders)
    if scores.against_hops:
        yield _router("hops", scores.against_hops)
    if scores.against_oracle:
        yield _router("the cheapest way that answers right", scores.against_oracle)
    if scores.rewriting:
        yield _rewriting(scores.rewriting)
    if scores.n_retrievals:
        needless = f", {scores.n_needless:,} of them when all was there already" if scores.n_needless else ""
        yield f"{scores.n_wasted:,} of {scores.n_retrievals:,} retrievals brought no new gold document{needless}."


def _grader(grader: GraderScores) -> str:
    undecided = f", {grader.n_undecided:,} undecided" if grader.n_undecided else ""
    return (
        f"{grader.node}: precision {_ratio(grader.precision)} (approving all: {_ratio(grader.base_rate)}), recall "
        f"{_ratio(grader.recall)}; {grader.n_judged:,} verdicts, {grader.n_gold:,} on gold{undecided}."
    )


def _router(standard: str, confusion: RouteConfusion) -> str:
    wrong = ", ".join(
        f"{count.needed} sent {count.taken} {count.n:,}" for count in confusion.counts if count.needed != count.taken
    )
    return (
        f"routing against {standard}: right for {_ratio(confusion.agreement)} of {confusion.n:,}, too cheap for "
        f"{confusion.n_cheaper:,}, too dear for {confusion.n_dearer:,}" + (f" ({wrong})." if wrong else ".")
    )


def _rewriting(rewriting: RewriteScores) -> str:
    return (
        f"asking in other words: recall {_ratio(rewriting.recall_before)} before, {_ratio(rewriting.recall_after)} "
        f"after (gain {_ratio(rewriting.gain)}), {_ratio(rewriting.recall_alone)} of the last query alone; "
        f"{rewriting.n_questions:,} question{'s' if rewriting.n_questions > 1 else ''}."
    )


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"
