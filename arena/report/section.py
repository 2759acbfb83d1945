"""What is said of a run on one topic, apart from how it is drawn: tables of quoted figures and sentences around them.

A terminal, Markdown and a page draw the same section. A page keeps the place in leaderboard.json of each figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from arena.report.figures import Quote, Quotes, path_of
from arena.report.names import Mark
from arena.report.text import Part, Rows, print_parts, strips

Line = tuple[str | Quote | Mark, ...]
"""Words, figures and names of cells in reading order."""

Entry = str | Quote | Mark | Line
"""What one cell of a table holds."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. The first `n_names` columns are names, the others figures.

    `key`: what scripts know it by (empty: they do not). `heats`: per row and column a shade from 0 to 10, None = none;
    empty where nothing is shaded. `turned`: text shows rows side by side, and calls what
    then stand in the first column so; empty: it does not.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    n_names: int = 1
    caption: str = ""
    key: str = ""
    heats: tuple[tuple[int | None, ...], ...] = ()
    turned: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a section, in this order. `lead`: what the table says; `more`: a table that only a page has room for.

    `folded`: the words under which a page hides the table until it is asked for; empty: it stands open.
    """

    heading: Line = ()
    lead: Line = ()
    grid: Grid | None = None
    more: Grid | None = None
    notes: tuple[Line, ...] = ()
    folded: str = ""

    @property
    def label(self) -> str:
        """The heading as text."""
        return entry_text(self.heading)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a page, and the tables that say the same.

    `drawn`: what scripts draw; `choices`: (key, name) of what each of its axes can show; `key`: what colours mean.
    """

    grids: tuple[Grid, ...]
    drawn: Mapping[str, Any]
    choices: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    key: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One topic. `legend`: how to read it; `notes`: what concerns all blocks."""

    title: str
    legend: str
    blocks: tuple[Block, ...]
    notes: tuple[Line, ...] = ()


def cell_grid(quotes: Quotes, marks: Sequence[Mark], figures: Mapping[str, str], *at: str) -> Grid:
    """A row per cell. `figures`: heading -> a rule and names, as in `Quotes.row`, of what stands at `at` of a cell."""
    rows: list[tuple[Entry, ...]] = [
        (mark, *quotes.row(path_of("cells", mark.place, *at), *figures.values())) for mark in marks
    ]
    return Grid(("cell", *figures), tuple(rows))


def entry_text(entry: Entry) -> str:
    """An entry or a line as text."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, tuple):
        return "".join(map(entry_text, entry))
    return entry.name if isinstance(entry, Mark) else entry.text


def rows_of(grid: Grid) -> Rows:
    """The table as text. Where its only names are cells, strategy, mode and setting have a column each."""
    marks = [row[0] for row in grid.rows if isinstance(row[0], Mark)]
    if grid.n_names > 1 or len(marks) < len(grid.rows):
        return Rows(grid.headings, tuple(tuple(map(entry_text, row)) for row in grid.rows), grid.n_names)
    n_names = 3 if any(mark.setting for mark in marks) else 2
    names = [(mark.strategy, mark.mode, mark.setting)[:n_names] for mark in marks]
    figures = [tuple(map(entry_text, row[1:])) for row in grid.rows]
    if grid.turned:
        headings = ("\n".join(filter(None, named)).replace(", ", "\n") for named in names)
        return Rows((grid.turned, *headings), tuple(zip(grid.headings[1:], *figures, strict=True)), 1)
    rows = tuple((*named, *texts) for named, texts in zip(names, figures, strict=True))
    return Rows((*("strategy", "mode", "setting")[:n_names], *grid.headings[1:]), rows, n_names)


def print_section(section: Section | None, console: Console) -> None:
    """Print an empty line and the section. Names come from data and are never taken for markup."""
    if section is None:
        return
    legend = f"{section.title}: {section.legend}" if section.legend else section.title
    parts: list[Part] = [Text(legend, style="dim")]
    for block in section.blocks:
        parts += _block_parts(block, console)
    print_parts([*parts, *map(entry_text, section.notes)], console)


def _block_parts(block: Block, console: Console) -> list[Part]:
    parts: list[Part] = []
    heading, lead = Text(block.label, style="bold"), Text(entry_text(block.lead))
    if block.heading or block.lead:
        parts.append(Text(": ").join([heading, lead]) if heading and lead else heading or lead)
    if block.grid is not None:
        rows = rows_of(block.grid)
        parts += strips(rows, console) if block.grid.turned else [rows]
    return [*parts, *map(entry_text, block.notes)]


def lines(sentences: Iterable[str]) -> tuple[Line, ...]:
    """Sentences without figures of their own."""
    return tuple((one,) for one in sentences)
