"""How a cell is called outside the leaderboard's table, and what is said of it by that name."""

from __future__ import annotations

from arena.report.cell_names import names_of, setting_of
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.validity import sentences


def cell_title(cell: CellSummary, board: Leaderboard) -> str:
    """As in `corrective, hybrid at T1, k=5`: the tier where it has one, the setting where namesakes differ in one."""
    tier = f" at {cell.fidelity_tier}" if cell.fidelity_tier else ""
    setting = setting_of(cell, board.cells)
    return f"{cell.strategy}, {cell.retrieval_mode}{tier}" + (f", {setting}" if setting else "")


def short_names(board: Leaderboard) -> dict[str, str]:
    """Cell key -> its names in one line, as in `corrective hybrid k=5`."""
    _, names = names_of(board.cells)
    return {cell.cell: " ".join(filter(None, named)) for cell, named in zip(board.cells, names, strict=True)}


def warning_lines(board: Leaderboard) -> list[str]:
    """The validity warnings, a sentence each."""
    return sentences(board.all_warnings, short_names(board))
