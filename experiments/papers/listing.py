"""`arena papers list`: the published figures, alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich import box
from rich.table import Table
from rich.text import Text

from arena.errors import UnknownNameError
from experiments.papers.published import PublishedNumber, published_numbers
from experiments.terminal.tables import Console, as_json, print_table

_DOUBTED = "?"


def list_numbers(paper: str | None = None, dataset: str | None = None) -> tuple[PublishedNumber, ...]:
    """The published figures of papers and datasets whose names contain `paper` and `dataset`, whatever their case.

    Raises:
        UnknownNameError: no paper, or no dataset of the papers found, has such a name.
    """
    found = _named("paper", paper, published_numbers())
    return _named("dataset", dataset, found)


def print_numbers(numbers: Sequence[PublishedNumber], console: Console, *, json: bool) -> None:
    """Print a line per figure, as printed in its paper; what is doubted is marked and explained below."""
    if json:
        console.out(as_json({"numbers": [asdict(one) for one in numbers]}), highlight=False)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("paper", "table", "dataset", "system", "reader", "metric"):
        table.add_column(heading)
    table.add_column("value", justify="right")
    table.add_column("unit")
    for one in numbers:
        mark = _DOUBTED if one.suspicious else ""
        names = (one.paper, one.table, one.dataset, one.system, one.llm, one.metric)
        table.add_row(*map(Text, (*names, f"{one.value:g}{mark}", one.unit)))
    print_table(table, _notes(numbers), console)


def _notes(numbers: Sequence[PublishedNumber]) -> list[str]:
    doubts: dict[str, list[PublishedNumber]] = {}
    for one in numbers:
        if one.suspicious:
            doubts.setdefault(one.suspicious, []).append(one)
    notes = [
        f"{_DOUBTED} {why}: {len(of)} of these, first {of[0].system}, {of[0].table}." for why, of in doubts.items()
    ]
    sources = dict.fromkeys(one.source for one in numbers)
    return [*notes, f"{len(numbers)} figures from {len(sources)} places; --json gives the source of each."]


def _named(what: str, part: str | None, numbers: Sequence[PublishedNumber]) -> tuple[PublishedNumber, ...]:
    if part is None:
        return tuple(numbers)
    found = tuple(one for one in numbers if part.casefold() in getattr(one, what).casefold())
    if not found:
        raise UnknownNameError(f"{what} with published figures", part, {getattr(one, what) for one in numbers})
    return found
