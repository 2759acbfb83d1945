"""How far a run is, as the pages and the JSON of the server say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.gap import FLOOR
from arena.leaderboard.schema import MetricSummary
from arena.llm import is_fake
from arena.types import GOLD_MODE

Status = Literal["running", "stopped", "finished", "damaged"]

FIGURES = ("answer_f1", "answer_em", "retrieval_recall")
"""Metrics that are shown while a run goes on."""

HEADLINE = ("answer_f1", "retrieval_recall")
"""Metrics whose best cell stands in the list of runs."""


@dataclass(frozen=True, slots=True)
class CellProgress:
    """One cell: `done` of `planned` questions have a record, `failed` and `abstained` of them ended so.

    `tokens`: input and output of all calls; None = unknown.
    """

    cell: str
    strategy: str
    retrieval_mode: str
    llm: str | None
    done: int
    planned: int
    failed: int
    abstained: int
    calls: int
    tokens: int | None
    figures: Mapping[str, MetricSummary] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.strategy} + {self.retrieval_mode}"

    @property
    def fake(self) -> bool:
        """Whether a fake model wrote the answers, so that figures of answers say nothing."""
        return self.llm is not None and is_fake(self.llm)

    @property
    def is_control(self) -> bool:
        """A floor that sees no document, or a ceiling that is handed the gold: a bound, and no contestant."""
        return self.retrieval_mode == GOLD_MODE or (self.strategy, self.retrieval_mode) == FLOOR


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run. `problem`: why it is damaged, or why it has no figures (None: all is well).

    `run_id`: its place below the folder that is served, as in `k_sweep/k-5` of a run that a sweep made. `warnings`: the
    validity warnings of its leaderboard, a sentence each.
    `reading`: its journal is still being read, and its cells are not known yet.
    """

    run_id: str
    status: Status
    dataset: str | None = None
    llm: str | None = None
    started: str | None = None
    cells: Sequence[CellProgress] = ()
    problem: str | None = None
    warnings: Sequence[str] = ()
    reading: bool = False

    @property
    def done(self) -> int:
        return sum(cell.done for cell in self.cells)

    @property
    def planned(self) -> int:
        return sum(cell.planned for cell in self.cells)

    @property
    def failed(self) -> int:
        return sum(cell.failed for cell in self.cells)

    def best(self, metric: str) -> tuple[CellProgress, MetricSummary] | None:
        """The cell with the highest mean, and its figure; controls do not compete."""
        means = [
            (summary.mean, -place, cell, summary)
            for place, cell in enumerate(self.cells)
            if not cell.is_control and (summary := cell.figures.get(metric)) is not None and summary.mean is not None
        ]
        return max(means, key=lambda one: one[:2])[2:] if means else None


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """A sweep, or a comparison at equal budget: a folder of runs. `runs`: their names, as in `RunProgress.run_id`."""

    name: str
    kind: str
    status: str
    runs: Sequence[str]


def cells_of_board(board: Leaderboard) -> tuple[CellProgress, ...]:
    """The cells of a finished run; a figure that is invalid is left out."""
    return tuple(
        CellProgress(
            cell=row.cell,
            strategy=row.strategy,
            retrieval_mode=row.retrieval_mode,
            llm=row.llm,
            done=row.n_questions,
            planned=row.n_questions,
            failed=row.n_failed,
            abstained=row.n_abstained,
            calls=round(row.llm_calls_per_question * row.n_questions),
            tokens=None if row.tokens is None else round(row.tokens * row.n_questions),
            figures={name: row.metrics[name] for name in FIGURES if name in row.metrics and not row.invalid(name)},
        )
        for row in board.cells
    )
