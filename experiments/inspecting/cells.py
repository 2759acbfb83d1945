"""Which cells of a run are meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arena.errors import UnknownNameError
from arena.report.names import setting_of
from arena.types import Cell


def chosen_cells(cells: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """The cells that any of `names` names, in their order; all of them where there are no names.

    A name is a cell's key, or a strategy, or a strategy and a mode: `corrective`, `corrective/hybrid`.

    Raises:
        UnknownNameError: a name names none.
    """
    for name in names:
        if not any(_is_named(cell, name) for cell in cells):
            raise UnknownNameError("cell", name, _known_names(cells))
    return [cell for cell in cells if not names or any(_is_named(cell, name) for name in names)]


def cell_title(cell: Cell, cells: Sequence[Cell]) -> str:
    """As in `corrective + hybrid (k=5)`: the setting where namesakes differ in one."""
    setting = setting_of(cell, cells)
    return f"{cell.strategy} + {cell.retrieval_mode}" + (f" ({setting})" if setting else "")


def _is_named(cell: Cell, name: str) -> bool:
    return name in (cell.key, cell.strategy, f"{cell.strategy}/{cell.retrieval_mode}")


def _known_names(cells: Sequence[Cell]) -> set[str]:
    """Strategies, strategies with a mode, and keys where several cells share both."""
    counts = Counter(f"{cell.strategy}/{cell.retrieval_mode}" for cell in cells)
    shared = {cell.key for cell in cells if counts[f"{cell.strategy}/{cell.retrieval_mode}"] > 1}
    return {cell.strategy for cell in cells} | counts.keys() | shared
