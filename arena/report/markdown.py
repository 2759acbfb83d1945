"""The leaderboard as Markdown, for a README or a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from arena.report.leaderboard import Leaderboard
from arena.report.rows import leaderboard_rows, legend


def render_markdown(board: Leaderboard) -> str:
    """A table and its legend; pipes in names are escaped."""
    content = leaderboard_rows(board)
    rule = ["---", "---", *["---:"] * (len(content.headings) - 2)]
    lines = [_line(content.headings), _line(rule), *map(_line, content.rows)]
    source = f"{board.dataset.name}, {board.dataset.n_documents:,} documents; run `{board.fingerprint}`."
    return "\n".join([*lines, "", f"{source} {legend(board)}"])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"
