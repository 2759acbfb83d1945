from __future__ import annotations

from collections.abc import Sequence

from arena.report.leaderboard import CellSummary
from arena.types import Cell

AnyCell = CellSummary | Cell


def names_of(cells: Sequence[AnyCell]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings, and the names of each cell under them: strategy, mode, and setting where namesakes differ in one."""
    settings = [setting_of(cell, cells) for cell in cells]
    headings = ("strategy", "mode", "setting") if any(settings) else ("strategy", "mode")
    names = [
        (cell.strategy, cell.retrieval_mode, setting)[: len(headings)]
        for cell, setting in zip(cells, settings, strict=True)
    ]
    return headings, names


def setting_of(cell: AnyCell, cells: Sequence[AnyCell]) -> str:
    """In what a cell differs from its namesakes, as in `k=5`; empty when it has none."""
    namesakes = [
        {"llm": other.llm, **other.params}
        for other in cells
        if (other.strategy, other.retrieval_mode) == (cell.strategy, cell.retrieval_mode)
    ]
    own = {"llm": cell.llm, **cell.params}
    names = sorted({name for setting in namesakes for name in setting})
    return ", ".join(
        f"{name}={own.get(name)}" for name in names if any(other.get(name) != own.get(name) for other in namesakes)
    )
