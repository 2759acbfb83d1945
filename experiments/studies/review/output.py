"""What a review came to, on a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from arena.report.figures import UNDEFINED, ratio_text
from arena.report.text import Rows, print_parts
from experiments.studies.review.agreement import Concord, CriterionReview, Review
from experiments.terminal.tables import Console, as_json

_LEGEND = (
    "By majority of raters; a tied answer has none. alpha = Krippendorff's over raters, on answers that two or more "
    "call yes or no. Pairs: share of answers that both call the same, and Cohen's kappa. A dash: nothing can be said."
)


def print_review(found: Review, console: Console, *, json: bool = False) -> None:
    """Print one JSON object, or tables. Names come from sheets and are never taken for markup."""
    if json:
        console.file.write(as_json(found) + "\n")
        return
    for line in _opening(found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    print_parts([_criteria(found), _LEGEND], console)
    pairs = _pairs(found)
    print_parts([*([pairs] if pairs.rows else []), *_notes(found)], console)


def _opening(found: Review) -> Iterator[str]:
    judged = ", ".join(f"{rater} {count:,}" for rater, count in found.raters.items())
    yield f"run {found.run_id}: answers judged, by rater: {judged}"
    for name, counts in (("new", found.added), ("replaced", found.replaced), ("unchanged", found.unchanged)):
        if counts:
            yield f"{name}: {', '.join(f'{count:,} of {rater}' for rater, count in counts.items())}"
    if found.n_blank:
        yield f"{found.n_blank:,} rows are empty and say nothing"
    yield f"labels of right and wrong: {found.labels:,}; without a majority: {found.ties:,}"
    if found.overruled:
        yield f"{found.overruled:,} labels that were handed in before said otherwise; the review's count now"
    if found.outdated:
        yield f"{found.outdated:,} ratings are of answers that the run no longer has; they count for nothing"


def _criteria(found: Review) -> Rows:
    rows = []
    for one in found.criteria:
        counts = (one.n, one.yes, one.no, one.not_applicable, one.tied, one.shared)
        if one.n:
            rows.append((one.criterion, *(f"{count:,}" for count in counts), ratio_text(one.alpha)))
    return Rows(("criterion", "answers", "yes", "no", "na", "tied", "shared", "alpha"), tuple(rows), n_names=1)


def _pairs(found: Review) -> Rows:
    rows = []
    for one in found.criteria:
        pairs = [(f"{pair.first} and {pair.second}", pair.n, pair.share, pair.kappa) for pair in _all_pairs(one)]
        pairs += [(f"{rater.rater}, repeated (alpha)", rater.n, rater.share, rater.alpha) for rater in one.within]
        for between, n, share, agreement in pairs:
            same = UNDEFINED if share is None else f"{share:.0%}"
            rows.append((one.criterion, between, f"{n:,}", same, ratio_text(agreement)))
    return Rows(("criterion", "between", "answers", "same", "kappa"), tuple(rows), n_names=2)


def _all_pairs(one: CriterionReview) -> list[Concord]:
    """Of raters, and of metrics and people, those with an answer in common."""
    return [pair for pair in (*one.raters, *one.others) if pair.n]


def _notes(found: Review) -> Iterator[str]:
    """What cannot be said, and why."""
    if left_out := [one.criterion for one in found.criteria if not one.n]:
        yield f"nobody judged by {', '.join(left_out)}"
    if len(found.raters) == 1:
        yield "one rater: nothing can be said of agreement between people"
    if not any(one.within for one in found.criteria):
        yield "nobody judged an answer twice: nothing can be said of agreement with oneself"
    for one in found.criteria:
        if one.mixed:
            yield f"{one.criterion}: {one.mixed:,} answers to which it applies for some raters and not for others"
        constant = [pair for pair in _all_pairs(one) if pair.kappa is None]
        if constant:
            named = "; ".join(f"{pair.first} and {pair.second} (n = {pair.n:,})" for pair in constant)
            yield f"{one.criterion}: no kappa where both say the same throughout: {named}"
