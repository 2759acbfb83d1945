"""The score tables of several runs as one, every cell marked with its run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from arena.judges.judge import JudgeCount, JudgeTally
from arena.scoring import CellScores, ScoreTable
from arena.types import Cell

RUN = "run"
"""The parameter of a cell that says which run it is of, so that no two cells of two runs have one key."""


class JoinedTally(JudgeTally):
    """What judges came to over several runs; one judge by one metric is counted once, over all of them."""

    def __init__(self, counts: Mapping[tuple[str, str, str], JudgeCount]) -> None:
        super().__init__()
        self._joined = counts

    def __iter__(self) -> Iterator[JudgeCount]:
        return iter(self._joined.values())


def join_tables(tables: Mapping[str, ScoreTable], withheld: Collection[str]) -> ScoreTable:
    """One table of all (run -> its table), without the metrics `withheld`, which are not the same in all runs."""
    cells = [_of_run(cell, run, withheld) for run, table in tables.items() for cell in table.cells]
    judged = [(run, table) for run, table in tables.items() if table.judges is not None]
    return ScoreTable(tuple(cells), _join_judges(judged, withheld) if judged else None)


def marked(cell: Cell, run: str) -> Cell:
    """The cell, as one of `run`."""
    return replace(cell, params={**cell.params, RUN: run})


def _of_run(cell: CellScores, run: str, withheld: Collection[str]) -> CellScores:
    scores = cell.scores
    if withheld:
        scores = {name: tuple(one for one in own if one.metric not in withheld) for name, own in scores.items()}
    return replace(cell, cell=marked(cell.cell, run), scores=scores)


def _join_judges(tables: Collection[tuple[str, ScoreTable]], withheld: Collection[str]) -> JoinedTally:
    joined: dict[tuple[str, str, str], JudgeCount] = {}
    for run, table in tables:
        keys = {cell.cell.key: marked(cell.cell, run).key for cell in table.cells}
        for count in table.judges or ():
            if count.metric in withheld:
                continue
            place = (count.judge, count.metric, count.judge_sha)
            whole = joined.setdefault(place, JudgeCount(count.judge, count.metric, count.judge_sha))
            whole.records |= {(keys[cell], asked): record for (cell, asked), record in count.records.items()}
            whole.account += count.account
            whole.rated += count.rated
            whole.split += count.split
    return JoinedTally(joined)
