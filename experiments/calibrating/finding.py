"""What a calibration found, one target at a time. Nothing is rounded here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.statistics.intervals import Interval

TARGETS = ("rerank", "corrective", "self_rag", "router")

Figure = Interval | float | None


@dataclass(frozen=True, slots=True)
class Population:
    """Scores of things that ought to end up on one side of a threshold."""

    name: str
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TradeRow:
    """One value of the setting (None = no threshold at all) and what it would have done. `mark`: why it is shown."""

    value: float | None
    mark: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class TradeTable:
    """What each value of a setting would have done to the questions of the run; `headings` of the figures."""

    headings: tuple[str, ...]
    rows: tuple[TradeRow, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The value of one setting, best by `criterion`; `low` to `high`: chosen anew in resamples of the questions.

    `setting`: its place in a config, parts joined by dots. None = no threshold. `measures`: how well it does, by name.
    """

    setting: str
    value: float | None
    low: float | None
    high: float | None
    criterion: str
    measures: Mapping[str, Interval]

    @property
    def name(self) -> str:
        """The setting's own name."""
        return self.setting.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of the wanted things alone against the unwanted, and what would be best for it."""

    name: str
    n: int
    auc: Interval
    best: Chosen
    separates: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One target. `judge`: whose scores; `cell`: where in the run they were read.

    `populations`: the wanted and the unwanted things. `separates`: the scores tell them apart, and the chosen values
    may be used; `verdict` says so in words. `parts`: kinds of the wanted things, where there are several.
    """

    target: str
    cell: str
    judge: str
    populations: tuple[Population, Population]
    auc: Interval
    chosen: tuple[Chosen, ...]
    table: TradeTable
    separates: bool
    verdict: str
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one run can tell.

    `untold`: target -> why the run cannot tell. `written`: the config that holds the chosen values (None: nothing
    separates, and nothing was written).
    """

    run_id: str
    fingerprint: str
    started: str
    findings: tuple[Finding, ...]
    untold: Mapping[str, str]
    written: Path | None
