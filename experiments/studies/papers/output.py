"""Published figures, alone (`arena papers list`) or beside ours, as a table with what differs below it, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich import box
from rich.table import Column, Table
from rich.text import Text

from arena.errors import UnknownNameError
from arena.report.figures import UNDEFINED, metric_text
from arena.report.source import PaperComparison
from arena.types import grouped
from experiments.studies.papers.numbers import PublishedNumber, published_numbers
from experiments.terminal.tables import Console, as_json, print_below, print_table

_DOUBTED = "?"
_INSIDE = {True: ", inside", False: ", outside", None: ""}


def print_comparisons(rows: Sequence[PaperComparison], console: Console, *, json: bool) -> None:
    """Print a line per published figure that has a cell, then what differs, what is doubted and what has none."""
    if json:
        fields = [asdict(row) | {"ours": row.ours.model_dump(mode="json") if row.ours else None} for row in rows]
        console.out(as_json({"comparisons": fields}), highlight=False)
        return
    beside = [row for row in rows if row.cell is not None]
    if not beside:
        nothing = (
            "No cell of this run is a system of the papers that used a dataset of this name."
            if rows
            else "No paper that is listed here used a dataset of this name (arena papers list): there is nothing to "
            "compare."
        )
        console.print(nothing, markup=False, highlight=False, soft_wrap=True)
        print_below(_uncompared(rows), console)
        return
    published = Column("published", justify="right")
    table = _table("paper", "table", "system", "metric", published, "ours", "cell", "badge", "differs in")
    for row in beside:
        theirs = f"{row.published:.3g}{_DOUBTED if row.suspicious else ''}"
        cell, badge = (row.cell or "").rpartition("/")[0], f"{row.badge}{_INSIDE[row.inside]}"
        differs = ", ".join(one.partition(":")[0] for one in row.differs)
        names = (row.paper, row.table, row.system, row.metric, theirs)
        table.add_row(*map(Text, (*names, metric_text(row.ours), cell, badge, differs)))
    print_table(table, _notes(rows), console)


def _table(*headings: Column | str) -> Table:
    return Table(*headings, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def _notes(rows: Sequence[PaperComparison]) -> Iterator[str]:
    settings: dict[str, dict[str, None]] = {}  # of all figures of a system, each once
    for row in rows:
        if row.cell is not None and row.differs:
            settings.setdefault(f"{row.paper}, {row.system}", {}).update(dict.fromkeys(row.differs))
    yield from (f"{name}: {'; '.join(differing)}" for name, differing in settings.items())
    yield "What differs is written as setting: theirs / ours. Prompts and decoding are not compared, and differ."
    if any(row.inside is not None for row in rows):
        yield (
            "inside, outside: where the published figure lies to our 95 % interval. It comes of one sample too, with "
            "an error of its own: this is no test."
        )
    doubts = dict.fromkeys(row.suspicious for row in rows if row.suspicious and row.cell is not None)
    yield from (f"{_DOUBTED} {doubt}" for doubt in doubts)
    yield from _uncompared(rows)
    yield f"{UNDEFINED}: this run has no such figure. Time is a ratio to its authors' own single step: left out."


def _uncompared(rows: Sequence[PaperComparison]) -> Iterator[str]:
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row.cell is None:
            system, _, why = "; ".join(row.differs).removeprefix("system: ").partition(" / ")
            systems.setdefault((row.paper, why), {})[system] = None
    for (paper, why), names in systems.items():
        yield f"not compared: {paper}: {', '.join(names)} ({why})"


def list_numbers(paper: str | None = None, dataset: str | None = None) -> list[PublishedNumber]:
    """The published figures of papers and datasets whose names contain `paper` and `dataset`, whatever their case.

    Raises:
        UnknownNameError: no paper, or no dataset of the papers found, has such a name.
    """
    found = list(published_numbers())
    for what, part in (("paper", paper), ("dataset", dataset)):
        names = {getattr(one, what) for one in found}
        found = [one for one in found if (part or "").casefold() in getattr(one, what).casefold()]
        if part is not None and not found:
            raise UnknownNameError(f"{what} with published figures", part, names)
    return found


def print_numbers(numbers: Sequence[PublishedNumber], console: Console, *, json: bool) -> None:
    """Print a line per figure, as printed in its paper; what is doubted is marked and explained below."""
    if json:
        console.out(as_json({"numbers": [asdict(one) for one in numbers]}), highlight=False)
        return
    value = Column("value", justify="right")
    table = _table("paper", "table", "dataset", "system", "reader", "metric", value, "unit")
    for one in numbers:
        mark = _DOUBTED if one.suspicious else ""
        names = (one.paper, one.table, one.dataset, one.system, one.llm, one.metric)
        table.add_row(*map(Text, (*names, f"{one.value:g}{mark}", one.unit)))
    print_table(table, _suspicious_numbers(numbers), console)


def _suspicious_numbers(numbers: Sequence[PublishedNumber]) -> list[str]:
    doubts = grouped((one.suspicious, one) for one in numbers if one.suspicious)
    notes = [
        f"{_DOUBTED} {why}: {len(of)} of these, first {of[0].system}, {of[0].table}." for why, of in doubts.items()
    ]
    sources = dict.fromkeys(one.source for one in numbers)
    return [*notes, f"{len(numbers)} figures from {len(sources)} places; --json gives the source of each."]
