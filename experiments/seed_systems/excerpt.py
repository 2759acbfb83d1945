"""What the page quotes of a command's output: columns of a table, whole parts, single lines.

Seconds, dates and paths of a machine are left out by not being named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

_RULE = re.compile(r"\s*─+\s*")
_CELL = re.compile(r"\S+(?: \S+)*")

Row = Mapping[str, str]


def columns_of(output: str, wanted: Sequence[str]) -> str:
    """The wanted columns of the first table that has them all, as Markdown.

    A table is a line of headings, a rule, and the lines whose cells stand under the headings; cells are two spaces
    apart at least. Raises `ValueError` where no table has them.
    """
    for headings, rows in _tables(output.splitlines()):
        if set(wanted) <= set(headings):
            lines = [wanted, ["---"] * len(wanted), *([row.get(name, "") for name in wanted] for row in rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    raise ValueError(f"no table has the columns {', '.join(wanted)}:\n{output}")


def part_of(output: str, start: str) -> str:
    """From the first line that begins with `start` to the next empty line. Raises `ValueError` where none does."""
    lines = output.splitlines()
    first = _place(lines, start)
    last = next((place for place in range(first, len(lines)) if not lines[place].strip()), len(lines))
    return "\n".join(line.rstrip() for line in lines[first:last])


def line_of(output: str, start: str) -> str:
    """The first line that begins with `start`. Raises `ValueError` where none does."""
    lines = output.splitlines()
    return lines[_place(lines, start)].strip()


def _place(lines: Sequence[str], start: str) -> int:
    for place, line in enumerate(lines):
        if line.lstrip().startswith(start):
            return place
    raise ValueError(f"no line begins with {start!r}:\n" + "\n".join(lines))


def _tables(lines: Sequence[str]) -> Iterator[tuple[list[str], list[Row]]]:
    """Headings and rows of each."""
    for place in range(1, len(lines)):
        if not _RULE.fullmatch(lines[place]):
            continue
        headings = list(_CELL.finditer(lines[place - 1]))
        below = (_row(headings, line) for line in lines[place + 1 :])
        yield [heading.group() for heading in headings], list(takewhile(bool, below))


def _row(headings: Sequence[re.Match[str]], line: str) -> Row:
    """Heading -> the cell of `line` below it. Cells below none are left out.

    Empty for a sentence: a line of one cell, or with a cell below several headings.
    """
    row: dict[str, str] = {}
    cells = list(_CELL.finditer(line))
    for cell in cells:
        above = [one.group() for one in headings if cell.start() < one.end() and one.start() < cell.end()]
        if len(above) > 1 or len(cells) == 1:
            return {}
        row |= dict.fromkeys(above, cell.group())
    return row
