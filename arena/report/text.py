"""Rows of text and paragraphs on a terminal or in a pipe. Names come from data and are never taken for markup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of text. The first `n_names` columns are names, the others figures."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int


_UNBOUNDED_CHARS = 10_000
_NOTE, _NOTE_GOES_ON = "  ", "    "

Part = Text | Table | Rows | str
"""A paragraph, a table that may fold, rows that may not, or a note: a sentence set in below what it is about."""


def text_table(content: Rows) -> Table:
    """Names to the left, figures to the right; nothing is wrapped."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(content.headings):
        table.add_column(Text(heading), justify="left" if place < content.n_names else "right", no_wrap=True)
    for row in content.rows:
        table.add_row(*map(Text, row))
    return table


def natural_chars(table: Table, console: Console) -> int:
    """Width of `table` with nothing shortened."""
    return console.measure(table, options=console.options.update(max_width=_UNBOUNDED_CHARS)).maximum


def print_parts(parts: Sequence[Part], console: Console) -> None:
    """Print an empty line, and the parts below each other.

    A pipe or file is taken to be as wide as the widest table needs. Rows that do not fit a terminal become a block of
    lines each.
    """
    drawn = [text_table(part) if isinstance(part, Rows) else part for part in parts]
    if not console.is_terminal:
        natural = (natural_chars(one, console) for one in drawn if isinstance(one, Table))
        console = type(console)(file=console.file, width=max((console.width, *natural)))
    console.print()
    for part, one in zip(parts, drawn, strict=True):
        if isinstance(one, str):
            console.print(_set_in(one, console), soft_wrap=True)
        elif isinstance(part, Rows) and isinstance(one, Table) and natural_chars(one, console) > console.width:
            console.print(Text(text_blocks(part)), soft_wrap=True)
        else:
            console.print(one)


def strips(content: Rows, console: Console) -> list[Rows]:
    """`content` cut into tables that each fit a terminal, of as many columns of figures as there is room for.

    The names stand before each. A pipe or file gets one table.
    """
    names = range(content.n_names)
    cut: list[list[int]] = [[]]
    for place in range(content.n_names, len(content.headings)):
        wider = text_table(_columns(content, [*names, *cut[-1], place]))
        if cut[-1] and console.is_terminal and natural_chars(wider, console) > console.width:
            cut.append([])
        cut[-1].append(place)
    return [_columns(content, [*names, *places]) for places in cut]


def text_blocks(content: Rows) -> str:
    """One block per row: its names, then a line per figure."""
    labels = [" ".join(heading.split()) for heading in content.headings[content.n_names :]]
    width = max(map(len, labels), default=0)
    lines = []
    for row in content.rows:
        lines.append(" ".join(name for name in row[: content.n_names] if name))
        lines += [f"  {label:{width}}  {text}" for label, text in zip(labels, row[content.n_names :], strict=True)]
    return "\n".join(lines)


def markdown_table(content: Rows, escaped: Callable[[str], str]) -> str:
    """Names to the left, figures to the right; every text is `escaped`."""
    rule = ("---",) * content.n_names + ("---:",) * (len(content.headings) - content.n_names)
    headings, *rows = (tuple(map(escaped, line)) for line in (content.headings, *content.rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in (headings, rule, *rows))


def _columns(content: Rows, places: Sequence[int]) -> Rows:
    return replace(
        content,
        headings=tuple(content.headings[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in content.rows),
    )


def _set_in(note: str, console: Console) -> Text:
    lines = Text(note).wrap(console, max(1, console.width - len(_NOTE_GOES_ON)))
    return Text("\n").join(
        Text(_NOTE_GOES_ON if number else _NOTE).append(line.plain.rstrip()) for number, line in enumerate(lines)
    )
