"""How a cell looks throughout a page: its name, a colour for its strategy, a shape for its mode."""

from __future__ import annotations

from dataclasses import dataclass

from arena.report.cell_names import setting_of
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE

HUES = 8
"""Colours of the palette; the ninth strategy has the first one's, and its name."""

SHAPES = ("circle", "square", "diamond", "cross", "star", "triangle-up", "triangle-down", "hexagon")
_OWN_SHAPES = {"dense": 0, "hybrid": 1, "hybrid_rerank": 2, NO_RETRIEVAL_MODE: 3, GOLD_MODE: 4}
_FREE_SHAPES = (5, 6, 7)


@dataclass(frozen=True, slots=True)
class Mark:
    """A cell. `place`: its row of the leaderboard; `hue` 0..HUES-1; `shape`: one of SHAPES."""

    place: int
    strategy: str
    mode: str
    setting: str
    hue: int
    shape: str

    @property
    def name(self) -> str:
        """As in `corrective + hybrid (k=5)`; the mode of a control that has no choice of one is left out."""
        joint = self.strategy if self.mode in (GOLD_MODE, NO_RETRIEVAL_MODE) else f"{self.strategy} + {self.mode}"
        return f"{joint} ({self.setting})" if self.setting else joint


def marks_of(board: Leaderboard) -> tuple[Mark, ...]:
    """One for each cell, in the order of the leaderboard."""
    strategies = list(dict.fromkeys(cell.strategy for cell in board.cells))
    others = [mode for mode in dict.fromkeys(cell.retrieval_mode for cell in board.cells) if mode not in _OWN_SHAPES]
    return tuple(_mark(place, cell, board, strategies, others) for place, cell in enumerate(board.cells))


def _mark(place: int, cell: CellSummary, board: Leaderboard, strategies: list[str], others: list[str]) -> Mark:
    mode = cell.retrieval_mode
    shape = _OWN_SHAPES[mode] if mode in _OWN_SHAPES else _FREE_SHAPES[others.index(mode) % len(_FREE_SHAPES)]
    return Mark(
        place,
        cell.strategy,
        mode,
        setting_of(cell, board.cells),
        strategies.index(cell.strategy) % HUES,
        SHAPES[shape],
    )
