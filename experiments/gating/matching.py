"""Which cell of a run takes the place of which cell of its baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.errors import ConfigError
from arena.plan import PlannedCell
from arena.report.names import setting_of
from arena.types import Cell
from experiments.gating.policy import CellPair, nearest

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Pairing:
    """`pairs`: (cell of the run, cell of the baseline); `added` and `gone`: cells that only one of them has."""

    pairs: tuple[tuple[PlannedCell, PlannedCell], ...]
    added: tuple[PlannedCell, ...]
    gone: tuple[PlannedCell, ...]


def pair_cells(new: Sequence[PlannedCell], old: Sequence[PlannedCell], by_hand: Iterable[CellPair] = ()) -> Pairing:
    """Pair cells: those that the policy pairs, then equal ones, then those of one strategy and mode.

    Of several of one strategy and mode, those whose setting, as it tells them from their namesakes, is the same. In the
    order of `new`.

    Raises:
        ConfigError: the policy names a cell that is not there; or several may belong together, and nothing says which.
    """
    chosen = _by_hand(new, old, by_hand)
    left = [one for one in old if one.cell.key not in chosen.values()]
    for one in (one for one in new if one.cell.key not in chosen):
        if one.cell.key in {other.cell.key for other in left}:
            chosen[one.cell.key] = one.cell.key
    chosen |= _by_role(new, old, chosen)
    taken, old_by_key = set(chosen.values()), {one.cell.key: one for one in old}
    return Pairing(
        pairs=tuple((one, old_by_key[chosen[one.cell.key]]) for one in new if one.cell.key in chosen),
        added=tuple(one for one in new if one.cell.key not in chosen),
        gone=tuple(one for one in old if one.cell.key not in taken),
    )


def changed_settings(new: Cell, old: Cell) -> list[str]:
    """`NAME: OLD -> NEW` for every setting in which two cells differ."""
    before, after = ({"llm": cell.llm, **cell.params} for cell in (old, new))
    names = sorted({*before, *after})
    return [f"{name}: {before.get(name)} -> {after.get(name)}" for name in names if before.get(name) != after.get(name)]


def label_of(cell: Cell, cells: Sequence[Cell]) -> str:
    """`STRATEGY/MODE`, and the setting that tells it from its namesakes among `cells`."""
    setting = setting_of(cell, cells)
    return f"{cell.strategy}/{cell.retrieval_mode}" + (f" ({setting})" if setting else "")


def _by_hand(new: Sequence[PlannedCell], old: Sequence[PlannedCell], by_hand: Iterable[CellPair]) -> dict[str, str]:
    chosen = {}
    for pair in by_hand:
        for key, cells, whose in ((pair.run, new, "run"), (pair.baseline, old, "baseline")):
            known = tuple(one.cell.key for one in cells)
            if key not in known:
                raise ConfigError(
                    f"the policy pairs cell {key!r}, which the {whose} does not have: {nearest(key, known)}"
                )
        chosen[pair.run] = pair.baseline
    return chosen


def _by_role(new: Sequence[PlannedCell], old: Sequence[PlannedCell], chosen: dict[str, str]) -> dict[str, str]:
    left_new = [one.cell for one in new if one.cell.key not in chosen]
    left_old = [one.cell for one in old if one.cell.key not in chosen.values()]
    found: dict[str, str] = {}
    for role in dict.fromkeys(_role(cell) for cell in left_new):
        here, there = ([cell for cell in cells if _role(cell) == role] for cells in (left_new, left_old))
        if len(here) == len(there) == 1:
            found[here[0].key] = there[0].key
        elif there:
            found |= _by_setting(here, there, [one.cell for one in new], [one.cell for one in old])
    return found


def _by_setting(
    here: Sequence[Cell], there: Sequence[Cell], new: Sequence[Cell], old: Sequence[Cell]
) -> dict[str, str]:
    """Namesakes by the setting that tells them apart, where it does so on both sides."""
    settings_here = {setting_of(cell, new): cell for cell in here}
    settings_there = {setting_of(cell, old): cell for cell in there}
    if settings_here.keys() == settings_there.keys() and "" not in settings_here:
        return {cell.key: settings_there[setting].key for setting, cell in settings_here.items()}
    strategy, mode = _role(here[0])
    raise ConfigError(
        f"several cells of {strategy}/{mode} may belong together. In the run: {_listed(here, new)}. In the baseline: "
        f"{_listed(there, old)}. Say which under `pairs` in the policy, as in "
        f"pairs: [{{run: {here[0].key}, baseline: {there[0].key}}}]"
    )


def _listed(cells: Sequence[Cell], all_cells: Sequence[Cell]) -> str:
    shown = [f"{cell.key} ({setting_of(cell, all_cells) or 'no namesake'})" for cell in cells[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else "")


def _role(cell: Cell) -> tuple[str, str]:
    return cell.strategy, cell.retrieval_mode
