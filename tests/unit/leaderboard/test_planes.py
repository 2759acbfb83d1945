from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.metrics import QuestionResamples
from arena.leaderboard.planes import Plane, pareto_front
from arena.types import Cell, RunRecord
from tests.samples import call, cell
from tests.unit.leaderboard.contests import IDS, ORACLE, board_of, run_of, sixty_questions


def dearer(records: Sequence[RunRecord], tokens: int) -> list[RunRecord]:
    """Each question takes a few tokens more than the one before."""
    return [
        replace(record, calls=(call(input_tokens=tokens + 3 * place, output_tokens=0),))
        for place, record in enumerate(records)
    ]


def three_prices() -> list[RunRecord]:
    return [
        *dearer(run_of(cell("cheap"), lambda place: place % 3 == 0), 100),
        *dearer(run_of(cell("fair"), lambda place: place % 2 == 0), 110),
        *dearer(run_of(cell("dear"), lambda place: place % 5 != 0, lambda place: place == 7), 120),
        *run_of(ORACLE, lambda place: True),
    ]


def plane(board: Leaderboard, quality: str, cost: str) -> Plane:
    assert board.planes is not None
    return next(one for one in board.planes if (one.quality, one.cost) == (quality, cost))


def test_the_share_of_resamples_on_the_front_is_that_of_brute_force() -> None:
    board = board_of(*three_prices())
    found = plane(board, "answer_f1", "tokens")
    counts = QuestionResamples(sixty_questions().questions, 0).of(tuple(sorted(IDS))).counts
    right = [
        [float(place % 3 == 0) for place in range(60)],
        [float(place % 2 == 0) for place in range(60)],
        [float(place % 5 != 0 and place != 7) for place in range(60)],
    ]
    tokens = [[start + 3.0 * place for place in range(60)] for start in (100, 110, 120)]
    times = np.zeros(3)
    for drawn in counts:
        points = [
            (float(drawn @ np.array(value)), float(drawn @ np.array(price)))
            for value, price in zip(right, tokens, strict=True)
        ]
        times += pareto_front(points)
    assert [point.front_share for point in found.points[:3]] == (times / len(counts)).tolist()
    assert found.points[0].front_share == 1.0  # the cheapest is on every front
    share = found.points[1].front_share
    assert share is not None
    assert 0.5 < share < 1.0


def test_the_front_of_f1_and_tokens_is_that_of_the_cells() -> None:
    board = board_of(*three_prices())
    found = plane(board, "answer_f1", "tokens")
    assert [point.on_front for point in found.points] == [cell.on_pareto_front for cell in board.cells]
    assert [point.cell for point in found.points] == [cell.cell for cell in board.cells]


def test_failing_costs_quality() -> None:
    found = plane(board_of(*three_prices()), "answer_f1", "calls")
    assert found.points[2].quality == pytest.approx(47 / 60)


def test_an_oracle_is_shown_and_does_not_compete() -> None:
    oracle = plane(board_of(*three_prices()), "answer_f1", "tokens").points[3]
    assert (oracle.quality, oracle.on_front, oracle.front_share) == (1.0, False, None)


def test_an_unknown_cost_does_not_compete() -> None:
    unknown = [replace(one, calls=(call(input_tokens=None),)) for one in run_of(cell("unknown"), lambda place: True)]
    board = board_of(*three_prices(), *unknown)
    point = plane(board, "answer_f1", "tokens").points[4]
    assert (point.cost, point.on_front, point.front_share) == (None, False, None)
    assert plane(board, "answer_f1", "calls").points[4].front_share is not None


def test_a_withheld_quality_does_not_compete() -> None:
    lossy = run_of(cell("lossy"), lambda place: True, lambda place: place < 10)
    point = plane(board_of(*three_prices(), *lossy), "answer_f1", "calls").points[4]
    assert (point.quality, point.front_share) == (None, None)


def test_a_plane_that_no_cell_is_in_is_left_out() -> None:
    board = board_of(*run_of(Cell("retrieval_only", "dense", None, {"k": 5}), lambda place: True))
    assert board.planes is not None
    assert {one.quality for one in board.planes} >= {"retrieval_recall"}
    assert not [one for one in board.planes if one.quality == "faithfulness"]
    assert board_of().planes == []


def test_the_same_run_gives_the_same_planes() -> None:
    records = three_prices()
    assert board_of(*records).planes == board_of(*reversed(records[:60]), *records[60:]).planes


def test_a_file_without_planes_still_reads() -> None:
    old = board_of(*three_prices()).model_dump(mode="json", exclude={"planes"})
    for one in old["cells"]:
        del one["roles"], one["latency_quantiles_seconds"]
    assert Leaderboard.model_validate(old).planes is None
