"""The leaderboard as Markdown, for a README or a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from arena.report.leaderboard import Leaderboard
from arena.report.legend import caption, legend, notes
from arena.report.rows import leaderboard_rows

_SPECIAL = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;", "&": "&amp;"})


def render_markdown(board: Leaderboard) -> str:
    """A table, what was measured and how to read it.

    Nothing in a name makes HTML, a link, a cell, a line or stress of its own.
    """
    content = leaderboard_rows(board)
    rule = ["---"] * content.n_names + ["---:"] * (len(content.headings) - content.n_names)
    lines = [_line(content.headings), _line(rule), *map(_line, content.rows)]
    footer = [f"{caption(board)}; run `{board.fingerprint}`.", legend(board), *notes(board)]
    return "\n".join([*lines, "", _escaped(" ".join(footer))])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return " ".join(text.replace("](", "]\\(").translate(_SPECIAL).splitlines())
