"""What a review came to, on a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from arena.report.figures import UNDEFINED
from experiments.studies.review.agreement import Concord, CriterionReview, Review
from experiments.terminal.tables import Console, as_json, print_table

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
    console.print()
    print_table(_criteria(found), [_LEGEND], console)
    pairs = _pairs(found)
    if pairs.row_count:
        console.print()
        print_table(pairs, _notes(found), console)
    else:
        for note in _notes(found):
            console.print(note, markup=False, highlight=False, style="dim", soft_wrap=True)


def _opening(found: Review) -> Iterator[str]:
    judged = ", ".join(f"{rater} {count:,}" for rater, count in found.raters.items())
    yield f"run {found.run_id}: answers judged, by rater: {judged}"
    for name, counts in (("new", found.added), ("replaced", found.replaced), ("unchanged", found.unchanged)):
        if counts:
            yield f"{name}: {_counts(counts)}"
    if found.n_blank:
        yield f"{found.n_blank:,} rows are empty and say nothing"
    yield f"labels of right and wrong: {found.labels:,}; without a majority: {found.ties:,}"
    if found.overruled:
        yield f"{found.overruled:,} labels that were handed in before said otherwise; the review's count now"
    if found.outdated:
        yield f"{found.outdated:,} ratings are of answers that the run no longer has; they count for nothing"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} of {rater}" for rater, count in counts.items())


def _criteria(found: Review) -> Table:
    table = _empty_table("criterion")
    for heading in ("answers", "yes", "no", "na", "tied", "shared", "alpha"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in _judged(found):
        counts = (one.n, one.yes, one.no, one.not_applicable, one.tied, one.shared)
        table.add_row(Text(one.criterion), *(f"{count:,}" for count in counts), _figure(one.alpha))
    return table


def _judged(found: Review) -> list[CriterionReview]:
    return [one for one in found.criteria if one.n]


def _pairs(found: Review) -> Table:
    table = _empty_table("criterion", "between")
    for heading in ("answers", "same", "kappa"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found.criteria:
        for pair in (*one.raters, *one.others):
            if pair.n:
                _add(table, one.criterion, f"{pair.first} and {pair.second}", pair.n, pair.share, pair.kappa)
        for rater in one.within:
            _add(table, one.criterion, f"{rater.rater}, repeated (alpha)", rater.n, rater.share, rater.alpha)
    return table


def _add(table: Table, criterion: str, between: str, n: int, share: float | None, kappa: float | None) -> None:
    same = UNDEFINED if share is None else f"{share:.0%}"
    table.add_row(Text(criterion), Text(between), f"{n:,}", same, _figure(kappa))


def _notes(found: Review) -> Iterator[str]:
    """What cannot be said, and why."""
    if left_out := [one.criterion for one in found.criteria if not one.n]:
        yield f"nobody judged by {', '.join(left_out)}"
    if len(found.raters) == 1:
        yield "one rater: nothing can be said of agreement between people"
    if not any(one.within for one in found.criteria):
        yield "nobody judged an answer twice: nothing can be said of agreement with oneself"
    for one in found.criteria:
        yield from _criterion_notes(one)


def _criterion_notes(one: CriterionReview) -> Iterator[str]:
    if one.mixed:
        yield f"{one.criterion}: {one.mixed:,} answers to which it applies for some raters and not for others"
    constant = [pair for pair in (*one.raters, *one.others) if pair.n and pair.kappa is None]
    if constant:
        named = "; ".join(_named(pair) for pair in constant)
        yield f"{one.criterion}: no kappa where both say the same throughout: {named}"


def _named(pair: Concord) -> str:
    return f"{pair.first} and {pair.second} (n = {pair.n:,})"


def _figure(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _empty_table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
