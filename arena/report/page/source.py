"""What a page is made of: everything a run folder holds, read once, and what experiments know beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.prices import PriceTable
from arena.report.leaderboard import Leaderboard
from arena.report.schema import MetricSummary
from arena.scoring import ScoreTable
from arena.types import Dataset, Document, RunRecord, Verdict

Badge = Literal["comparable", "near", "reference only"]
"""How far a published figure and ours may be held side by side."""


@dataclass(frozen=True, slots=True)
class FidelityCard:
    """A strategy of the run beside its paper. `clauses`: (what the paper says, what is done here, why it differs)."""

    strategy: str
    summary: str
    paper: str | None
    tier: str | None
    clauses: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PaperComparison:
    """One published figure beside one cell.

    `published` and `ours` are ratios or counts in the unit of `unit`; `ours` is None where no metric of the run
    corresponds. `differs`: each setting that is not the paper's, as `setting: theirs / ours`. `inside`: whether the
    published figure lies inside our interval; None where the badge does not allow to say so. `suspicious`: why the
    published figure is doubted.
    """

    paper: str
    table: str
    dataset: str
    system: str
    metric: str
    unit: str
    published: float
    cell: str | None
    ours: MetricSummary | None
    badge: Badge
    differs: tuple[str, ...] = ()
    inside: bool | None = None
    suspicious: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class PageSource:
    """One run, ready to be shown.

    `records` and `verdicts` are read again at each call, so that a large run is never held whole. `prices`: what its
    calls cost (None: nothing has a known price). `reproduce`: the
    commands that make this run and this page again. `live`: the run is not finished, and this is what there is.
    """

    board: Leaderboard
    table: ScoreTable
    dataset: Dataset
    documents: Mapping[str, Document]
    manifest: Mapping[str, Any]
    records: Callable[[], Iterator[RunRecord]]
    verdicts: Callable[[], Iterator[Verdict]]
    prices: PriceTable | None = None
    cards: Sequence[FidelityCard] = ()
    papers: Sequence[PaperComparison] = ()
    reproduce: Sequence[str] = ()
    live: bool = False
