"""Pair the cells of a run with those of its baseline, and their scores question by question.

Scores are turned so that more is better. Where a metric cannot pass a gate whatever its figures, the reason is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Literal, NamedTuple

import numpy as np

from arena.errors import ConfigError, hint
from arena.leaderboard.guards import GuardFinding
from arena.leaderboard.metrics import COVERAGE_FLOOR, ScoreColumns, columns_of_scores
from arena.metrics import is_undefined
from arena.metrics.case import FAILED
from arena.plan import PlannedCell
from arena.report.names import listed, setting_of
from arena.scoring import CellScores
from arena.statistics.intervals import Values
from arena.types import Cell, Partial, Score
from experiments.studies.gate.policy import SPENDING, CellPair, is_fault

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


def _by_hand(new: Sequence[PlannedCell], old: Sequence[PlannedCell], by_hand: Iterable[CellPair]) -> dict[str, str]:
    chosen = {}
    for pair in by_hand:
        for key, cells, whose in ((pair.run, new, "run"), (pair.baseline, old, "baseline")):
            known = tuple(one.cell.key for one in cells)
            if key not in known:
                raise ConfigError(f"the policy pairs cell {key!r}, which the {whose} does not have: {hint(key, known)}")
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
    return listed([f"{cell.key} ({setting_of(cell, all_cells) or 'no namesake'})" for cell in cells], _SHOWN)


def _role(cell: Cell) -> tuple[str, str]:
    return cell.strategy, cell.retrieval_mode


_ANYTHING = Partial(known=0.0, low=0.0, high=1.0)


class ScoreBounds(NamedTuple):
    """What is known of one score, more being better. `value` None: not known; then it is between `low` and `high`.

    A `failed` question has the value 0: whoever asked it got nothing.
    """

    value: float | None
    low: float
    high: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Questions that have a score in both cells, or should: (n,) each, in the order of their ids.

    `new`, `old`: NaN where not known. `worst`: new - old with what is not known, and what failed in the old alone,
    counted against the new. `left_out`: questions that have a score, or should, in one of the two only.
    """

    ids: tuple[str, ...]
    new: Values
    old: Values
    worst: Values
    left_out: int

    @property
    def differences(self) -> Values:
        """(n,) new - old; NaN where either is not known."""
        return self.new - self.old


def readings_of(scores: ScoreColumns, metric: str) -> dict[str, ScoreBounds]:
    """Question id -> what is known of its score, where it has one or should."""
    turned = is_fault(metric)
    return {
        question_id: _reading(score, less_is_better=turned)
        for question_id, score in zip(scores.ids, scores.scores.get(metric, ()), strict=False)
        if score is not None and not is_undefined(score.reason)
    }


def coverage_of(scores: ScoreColumns, metric: str, *, failures: bool = True) -> float | None:
    """What is known over what should be, as on the leaderboard; None: nothing should be.

    A failed question is not known; with `failures` False, such questions are left out.
    """
    column = (one for one in scores.scores.get(metric, ()) if one is not None and not is_undefined(one.reason))
    due = [one for one in column if failures or one.reason != FAILED]
    known = (1.0 if one.value is not None else one.partial.known if one.partial else 0.0 for one in due)
    return fsum(known) / len(due) if due else None


def pair_scores(new: dict[str, ScoreBounds], old: dict[str, ScoreBounds]) -> PairedScores:
    """Put the readings of one metric in two cells beside each other."""
    ids = tuple(sorted(new.keys() & old.keys()))
    pairs = [(new[one], old[one]) for one in ids]
    return PairedScores(
        ids,
        np.array([one.value for one, _ in pairs], dtype=np.float64),  # None becomes NaN
        np.array([one.value for _, one in pairs], dtype=np.float64),
        np.array([_worst(one, other) for one, other in pairs], dtype=np.float64),
        left_out=len(new.keys() ^ old.keys()),
    )


def _reading(score: Score, *, less_is_better: bool) -> ScoreBounds:
    if score.value is not None:
        value = 1.0 - score.value if less_is_better else score.value
        return ScoreBounds(value, value, value)
    if score.reason == FAILED:
        return ScoreBounds(0.0, 0.0, 0.0, failed=True)
    part = score.partial or _ANYTHING
    return (
        ScoreBounds(None, 1.0 - part.high, 1.0 - part.low) if less_is_better else ScoreBounds(None, part.low, part.high)
    )


def _worst(new: ScoreBounds, old: ScoreBounds) -> float:
    if old.failed:
        return 0.0 if new.failed else new.low - 1.0
    return new.low - old.high


@dataclass(frozen=True)
class ScoredCell:
    """A cell's scores, what guards say of them, and metric -> who judged it."""

    cell: CellScores
    guards: Sequence[GuardFinding]
    judges: Mapping[str, str | None]

    @cached_property
    def columns(self) -> ScoreColumns:
        """The scores, metric by metric."""
        return columns_of_scores(self.cell)

    def invalid(self, metric: str) -> str | None:
        """Why a metric of the cell says nothing."""
        return next((one.message for one in self.guards if one.metric in (None, metric)), None)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why nothing passes.

    `broken`: it is invalid in the run, and was not in the baseline. `incomparable`: nothing can be said of a change,
    for the worse neither. `partial`: too many questions failed; that it is worse can still be shown, since they count
    as 0.
    """

    kind: Literal["broken", "incomparable", "partial"]
    why: str


def doubt_of(metric: str, new: ScoredCell, old: ScoredCell) -> Doubt | None:
    """The first reason there is; None where the metric can pass."""
    if message := old.invalid(metric):
        return Doubt("incomparable", f"invalid in the baseline: {message}")
    if message := new.invalid(metric):
        return Doubt("broken", f"invalid in the run: {message}")
    if metric in SPENDING:
        return None
    if metric in new.judges and metric in old.judges and new.judges[metric] != old.judges[metric]:
        return Doubt("incomparable", "not judged by the judge of the baseline: judge both with one")
    for whose, side in (("baseline", old), ("run", new)):
        if doubt := _uncovered(metric, side.columns, whose):
            return doubt
    return None


def _uncovered(metric: str, scores: ScoreColumns, whose: str) -> Doubt | None:
    if all(one is None or one.value is not None for one in scores.scores.get(metric, ())):
        return None
    coverage, without_failures = coverage_of(scores, metric), coverage_of(scores, metric, failures=False)
    if without_failures is not None and without_failures < COVERAGE_FLOOR:
        kind: Literal["incomparable", "partial"] = "incomparable"
    elif coverage is not None and coverage < COVERAGE_FLOOR:
        kind = "partial"
    else:
        return None
    return Doubt(kind, f"withheld: coverage {coverage:.1%} of the {whose} is under {COVERAGE_FLOOR:.0%}")
