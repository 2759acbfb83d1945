"""leaderboard.json: one row per cell, with intervals and coverage, and how cells compare. Its schema starts here."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, ValidationError

from arena.errors import RunStoreError
from arena.leaderboard.cells import CellSummary, PriceSource, SummaryContext, price_source, summarise_cell
from arena.leaderboard.contamination import PROBED, ContaminationProbe, probe_readers
from arena.leaderboard.contest import ComparedCell, Contest, compare
from arena.leaderboard.controllers import summarise_controller_scores
from arena.leaderboard.diagnosis import Signs, diagnose, typical_tokens
from arena.leaderboard.gap import ClosedBookGain, GapSummary, ReaderCell, gains, gaps
from arena.leaderboard.guards import check_cells
from arena.leaderboard.judge_card import JudgeCard, summarise_judges
from arena.leaderboard.metrics import COVERAGE_FLOOR, QuestionResamples, ScoreColumns, columns_of_scores
from arena.leaderboard.planes import Plane, PlaneCell, pareto_front, planes_of
from arena.leaderboard.schema import HEADLINE, Comparison, Row
from arena.leaderboard.validity import Facts, IndexFacts, ValidityWarning, find_warnings
from arena.prices import PriceTable
from arena.scoring import ScoreTable
from arena.store import FINISHED, LEADERBOARD, RunStore
from arena.store.runs import resume_command
from arena.types import GOLD_MODE, Dataset, Tier

__all__ = ["COVERAGE_FLOOR", "CellSummary", "DatasetSummary", "Leaderboard", "build_leaderboard"]


class DatasetSummary(Row):
    """What was asked."""

    name: str
    fingerprint: str
    n_documents: int = Field(ge=0)
    n_questions: int = Field(ge=0, description="Questions the dataset holds; a cell's own n_questions were asked.")
    n_asked: int | None = Field(
        default=None, description="Distinct questions that any cell has a record of. None: an older file."
    )


class Leaderboard(Row):
    """The whole file."""

    schema_version: Literal[1] = 1
    run_id: str
    fingerprint: str
    dataset: DatasetSummary
    prices: PriceSource | None = Field(default=None, description="None: nothing was priced.")
    cells: list[CellSummary]
    comparisons: list[Comparison] = Field(default_factory=list)
    detectable: dict[str, float] = Field(
        default_factory=dict,
        description="Metric -> the smallest difference between two cells that this many questions would show "
        "(80 % power, 5 % level, one pair), in the middle of all pairs.",
    )
    judges: list[JudgeCard] = Field(default_factory=list)
    contamination: list[ContaminationProbe] = Field(
        default_factory=list, description="What each model knows without documents. Empty also in an older file."
    )
    planes: list[Plane] | None = Field(
        default=None, description="Every quality against every cost that at least one cell has. None: an older file."
    )
    warnings: list[ValidityWarning] | None = Field(
        default=None, description="What limits what the figures may be taken to say. None: an older file."
    )

    @property
    def all_warnings(self) -> list[ValidityWarning]:
        """Those of the file; of an older one, those that its rows tell by themselves."""
        if self.warnings is not None:
            return self.warnings
        return find_warnings(Facts(self.cells, held=self.dataset.n_questions))


def read_leaderboard(store: RunStore) -> Leaderboard:
    """The leaderboard of a run that was finished once, as its file has it.

    Raises:
        RunStoreError: there is none yet, or it is damaged.
    """
    if store.manifest()["status"] != FINISHED and not (store.folder / LEADERBOARD).exists():
        raise RunStoreError(
            f"run {store.run_id!r} is not finished and has no leaderboard yet: {resume_command(store)} finishes it, "
            f"and arena score {shlex.quote(str(store.folder))} shows what there is"
        )
    try:
        return Leaderboard.model_validate_json(store.leaderboard_json())
    except ValidationError:
        raise RunStoreError(
            f"leaderboard.json of run {store.run_id!r} is damaged, or of another version: derive it anew "
            f"with arena score {shlex.quote(str(store.folder))}"
        ) from None


def staleness(store: RunStore) -> str | None:
    """What to say of the leaderboard of a run that was given more after it was finished; None: it is up to date."""
    if store.manifest()["status"] == FINISHED:
        return None
    return (
        f"run {store.run_id!r} was given more and is not finished: this is its leaderboard from before; "
        f"{resume_command(store)} finishes it"
    )


def build_leaderboard(
    table: ScoreTable,
    dataset: Dataset,
    *,
    run_id: str,
    fingerprint: str,
    tiers: Mapping[str, Tier | None],
    seed: int,
    prices: PriceTable | None = None,
    probe: Mapping[str, Sequence[float]] | None = None,
    indexes: Sequence[IndexFacts] = (),
) -> Leaderboard:
    """Summarise a score table. The order of questions in it changes nothing.

    Args:
        table: the run's scores.
        dataset: what was asked.
        run_id: identity of the run folder.
        fingerprint: identity of the run's settings.
        tiers: highest fidelity tier of each strategy.
        seed: of resamples and sign flips. Everything on the same questions uses the same ones.
        prices: what `table` was priced with, to be named.
        probe: cell key -> seconds per question, asked one at a time (None: not probed).
        indexes: what was searched, for the warnings about it.
    """
    questions = {one.question_id: one for one in dataset.questions}
    resamples = QuestionResamples(dataset.questions, seed)
    context = SummaryContext(questions, resamples, tiers, probe or {})
    columns = [columns_of_scores(cell) for cell in table.cells]
    rows = [summarise_cell(cell, scores, context) for cell, scores in zip(table.cells, columns, strict=True)]
    rows = _examined(rows, table)
    standings = {name: _standing(name, rows, columns, resamples, seed) for name in HEADLINE}
    readers = {name: _readers(table, rows, columns, name) for name in PROBED}
    recovered, gained = gaps(readers["answer_f1"], resamples), gains(readers, resamples)
    return Leaderboard(
        run_id=run_id,
        fingerprint=fingerprint,
        dataset=DatasetSummary(
            name=dataset.name,
            fingerprint=dataset.fingerprint,
            n_documents=len(dataset.documents),
            n_questions=len(dataset.questions),
            n_asked=len({asked for cell in table.cells for asked in cell.usage}),
        ),
        prices=price_source(prices) if prices else None,
        cells=_placed(rows, standings, recovered, gained),
        comparisons=[one for standing in standings.values() for one in standing.comparisons],
        judges=summarise_judges(table.judges, {row.llm for row in rows if row.llm}) if table.judges else [],
        planes=planes_of(list(map(PlaneCell, rows, table.cells, columns)), resamples),
        contamination=probe_readers(
            table.cells, columns, [one.withheld for one in readers["answer_em"]], dataset, resamples, seed
        ),
        detectable={name: one.detectable for name, one in standings.items() if one.detectable is not None},
        warnings=find_warnings(Facts(rows, len(dataset.questions), indexes, table.cells)),
    )


def _examined(rows: Sequence[CellSummary], table: ScoreTable) -> list[CellSummary]:
    """The rows, each with what is invalid in it, what its decisions were worth, and its symptoms."""
    guards = check_cells(table)
    deciding = [(cell.cell, cell.controllers) for cell in table.cells]
    typical = typical_tokens((row.retrieval_mode, row.tokens) for row in rows)
    examined = []
    for row, (cell, counts) in zip(rows, deciding, strict=True):
        guarded = row.model_copy(update={"guards": guards[row.cell]})
        valid = {name: summary for name, summary in row.metrics.items() if not guarded.invalid(name)}
        symptoms = diagnose(Signs(valid, row.retrieval_mode, row.failures, row.tokens, typical))
        scores = summarise_controller_scores(cell, counts, deciding)
        examined.append(guarded.model_copy(update={"diagnosis": symptoms, "controller_scores": scores}))
    return examined


def _standing(
    metric: str, rows: Sequence[CellSummary], columns: Sequence[ScoreColumns], resamples: QuestionResamples, seed: int
) -> Contest:
    cells = [
        ComparedCell(row.cell, scores.ids, scores.values(metric), row.withheld(metric))
        for row, scores in zip(rows, columns, strict=True)
        if row.retrieval_mode != GOLD_MODE and row.defines(metric)
    ]
    return compare(metric, cells, resamples, seed)


def _readers(
    table: ScoreTable, rows: Sequence[CellSummary], columns: Sequence[ScoreColumns], metric: str
) -> list[ReaderCell]:
    return [
        ReaderCell(cell.cell, scores.ids, scores.values(metric), row.tokens, row.withheld(metric))
        for cell, row, scores in zip(table.cells, rows, columns, strict=True)
    ]


def _placed(
    rows: Sequence[CellSummary],
    standings: Mapping[str, Contest],
    recovered: Sequence[GapSummary | None],
    gained: Sequence[dict[str, ClosedBookGain]],
) -> list[CellSummary]:
    """The rows, each with its place among the others."""
    front = pareto_front([(_value(row), row.tokens) for row in rows])
    return [
        row.model_copy(
            update={
                "on_pareto_front": on_front,
                "gap": gap,
                "gain_over_closed_book": gain,
                "ranks": {name: one.ranks[row.cell] for name, one in standings.items() if row.cell in one.ranks},
            }
        )
        for row, on_front, gap, gain in zip(rows, front, recovered, gained, strict=True)
    ]


def _value(row: CellSummary) -> float | None:
    """Answer F1 with failed questions as 0; None for the oracle row, which nobody can buy, and where it is withheld."""
    if row.retrieval_mode == GOLD_MODE or row.withheld("answer_f1"):
        return None
    return row.metrics["answer_f1"].lower_bound
