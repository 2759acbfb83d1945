"""What makes a cell, or a metric of it, no result at all: it is marked invalid, never scored 0.

Each guard names something that an honest run does not show: it is the sign of a broken cable, not of a weak strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from arena.judges.reading import JudgeCount
from arena.leaderboard.schema import Row
from arena.scoring import CellScores, ScoreTable, Usage, by_metric
from arena.types import FOREIGN_MODES, GOLD_MODE, NO_RETRIEVAL_MODE

ENOUGH_QUESTIONS = 20
"""Fewer equal scores prove nothing."""

_OF_WORDS = ("answer_f1", "rouge_l")
"""Overlaps of words, whose values between 0 and 1 differ between any two answers. One over documents may well be
constant: five passages of which always one is gold have a precision of 0.2 on every question."""


class GuardFinding(Row):
    """One reason why a cell (`metric` None) or a metric of it is invalid: it says nothing, and is not a score of 0."""

    guard: str
    message: str
    metric: str | None = None


def check_cells(table: ScoreTable) -> Mapping[str, list[GuardFinding]]:
    """Cell key -> what is wrong with it; every cell has an entry, and one where all is well an empty one."""
    stuck = tuple(_stuck_judges(table.judges))
    return {
        cell.cell.key: [
            *(() if cell.cell.retrieval_mode in FOREIGN_MODES else _idle(cell)),
            *_constant_scores(cell),
            *(finding for cells, finding in stuck if cell.cell.key in cells),
        ]
        for cell in table.cells
    }


def _idle(cell: CellScores) -> Iterator[GuardFinding]:
    """Signs of a broken cable of ours; a foreign system may well say that it asked and retrieved nothing."""
    yield from _never_asked(cell)
    yield from _never_retrieved(cell)
    yield from _never_found(cell)


def _never_asked(cell: CellScores) -> Iterator[GuardFinding]:
    """A cell with a model whose completed questions all went by without a call."""
    completed = _completed(cell)
    if cell.cell.llm is None or not completed or any(usage.account.whole.calls for usage in completed):
        return
    yield GuardFinding(
        guard="no_calls",
        message=f"{cell.cell.llm} is the cell's model, and none of its {len(completed)} completed questions asked it "
        "anything",
    )


def _never_retrieved(cell: CellScores) -> Iterator[GuardFinding]:
    """A cell over an index that never asked it, unless on every question one of its own decisions may be the reason."""
    completed = _completed(cell)
    over_index = cell.cell.retrieval_mode not in (GOLD_MODE, NO_RETRIEVAL_MODE)
    if not over_index or not completed or any(usage.retrievals for usage in completed):
        return
    decided = any(
        controller.questions == cell.decisions.questions for controller in cell.decisions.controllers.values()
    )
    if not decided:
        yield GuardFinding(
            guard="no_retrievals",
            message=f"the cell's mode is {cell.cell.retrieval_mode}, none of its {len(completed)} completed questions "
            "retrieved anything, and no decision says why",
        )


def _never_found(cell: CellScores) -> Iterator[GuardFinding]:
    """A cell whose retrievals all came back empty, as they do from an index that lost its content."""
    completed = _completed(cell)
    retrievals = sum(usage.retrievals for usage in completed)
    if retrievals and not any(usage.hits for usage in completed):
        yield GuardFinding(
            guard="no_hits",
            message=f"none of the {retrievals} retrievals of its {len(completed)} completed questions brought "
            "anything: see whether the index still has its passages",
        )


def _constant_scores(cell: CellScores) -> Iterator[GuardFinding]:
    """A metric of words with one value between 0 and 1 throughout; 0 and 1 are floor and ceiling, and may be true."""
    for metric, scores in by_metric(cell).items():
        values = [score.value for score in scores if score.value is not None]
        if metric in _OF_WORDS and len(values) >= ENOUGH_QUESTIONS and len(set(values)) == 1 and 0 < values[0] < 1:
            yield GuardFinding(
                guard="constant_metric",
                message=f"{metric} is {values[0]:.4g} on each of {len(values)} questions",
                metric=metric,
            )


def _stuck_judges(judges: Iterable[JudgeCount] | None) -> Iterator[tuple[frozenset[str], GuardFinding]]:
    """Judges that said the same of every answer of the whole run, each with the keys of the cells it judged.

    One that tells the cells apart is not stuck; neither is one whose 0 or 1 throughout is what exact match says too.
    """
    for count in judges or ():
        judged = {place: record for place, record in count.records.items() if record.values}
        said = {value for record in judged.values() for value in record.values}
        if len(judged) < ENOUGH_QUESTIONS or len(said) > 1 or all(record.em in said for record in judged.values()):
            continue
        message = f"{count.judge} said {said.pop():.4g} in {count.metric} of each of {len(judged)} answers"
        yield (
            frozenset(cell for cell, _ in judged),
            GuardFinding(guard="constant_judge", message=message, metric=count.metric),
        )


def _completed(cell: CellScores) -> list[Usage]:
    return [usage for usage in cell.usage.values() if usage.outcome != "failed"]
