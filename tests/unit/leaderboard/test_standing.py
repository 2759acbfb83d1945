"""What the leaderboard says of cells against each other."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from arena.leaderboard.build import Leaderboard
from tests.samples import answered, cell
from tests.unit.leaderboard.contests import (
    CLOSED_BOOK,
    GOOD,
    IDS,
    MIDDLING,
    ORACLE,
    POOR,
    N,
    board_of,
    run_of,
    three_cells,
)

CELLS = (GOOD, MIDDLING, POOR)


def ranks_of(board: Leaderboard, metric: str = "answer_f1") -> list[tuple[int, int] | None]:
    found = [cell.ranks.get(metric) for cell in board.cells]
    return [(one.best, one.worst) if one else None for one in found]


def test_ranks_are_ranges_and_ties_share_the_top() -> None:
    board = board_of(*three_cells())
    assert ranks_of(board) == [(1, 2), (1, 2), (3, 3)]
    assert [cell.ranks["answer_f1"].in_top_group for cell in board.cells] == [True, True, False]
    assert {one.metric for one in board.comparisons} >= {"answer_f1", "answer_em", "retrieval_recall"}
    assert sum(one.metric == "answer_f1" for one in board.comparisons) == 3
    assert 0 < board.detectable["answer_f1"] < 0.3
    assert ranks_of(board, "retrieval_recall") == [(1, 3)] * 3


def test_the_order_of_records_changes_nothing() -> None:
    records = three_cells()
    by_cell = board_of(*records)
    shuffled = sorted(random.Random(0).sample(records, len(records)), key=lambda one: CELLS.index(one.cell))
    assert [one.question_id for one in shuffled] != [one.question_id for one in records]
    assert board_of(*shuffled) == by_cell
    assert board_of(*records, seed=1) != by_cell


def test_the_oracle_does_not_rank_and_closed_book_does() -> None:
    records = [*run_of(GOOD, lambda place: place < 40), *run_of(CLOSED_BOOK, lambda place: place < 10)]
    board = board_of(*records, *run_of(ORACLE, lambda place: place < 55))
    assert ranks_of(board) == [(1, 1), (2, 2), None]
    assert not any(ORACLE.key in (one.a, one.b) for one in board.comparisons)
    gap, floor, ceiling = (one.gap for one in board.cells)
    assert (floor, ceiling) == (None, None)
    assert gap is not None
    assert gap.recovered == pytest.approx(30 / 45)
    assert gap.per_thousand_tokens == pytest.approx(30 / 45 / 0.105)


def test_a_cell_under_the_coverage_floor_does_not_compete() -> None:
    """It fails on one question in five, and is right on all others: the best mean, if failures were left out."""
    records = [*run_of(GOOD, lambda place: place < 40), *run_of(POOR, lambda place: place < 10)]
    patchy = run_of(MIDDLING, lambda place: True, lost=lambda place: place % 5 == 0)
    board = board_of(*records, *patchy)
    assert ranks_of(board) == [(1, 1), (2, 2), None]
    withheld = {one.withheld for one in board.comparisons if MIDDLING.key in (one.a, one.b)}
    assert withheld == {f"{MIDDLING.key}: coverage 80.0% is under 95%"}


def test_an_invalid_cell_has_no_rank_and_no_place_on_the_front() -> None:
    """A cell with a model that never asked it anything, and is right for nothing."""
    silent = [replace(one, calls=()) for one in run_of(MIDDLING, lambda place: True)]
    board = board_of(*run_of(GOOD, lambda place: place < 40), *run_of(POOR, lambda place: place < 10), *silent)
    assert ranks_of(board) == [(1, 1), (2, 2), None]
    assert [bool(one.guards) for one in board.cells] == [False, False, True]
    assert [one.on_pareto_front for one in board.cells] == [True, False, False]


def test_a_cell_whose_mean_is_withheld_is_not_on_the_front_however_cheap() -> None:
    lost = run_of(MIDDLING, lambda place: True, lost=lambda place: True)
    cheap = run_of(POOR, lambda place: True, lost=lambda place: place % 5 == 0)
    board = board_of(*run_of(GOOD, lambda place: place < 40), *lost, *cheap)
    assert [one.on_pareto_front for one in board.cells] == [True, False, False]


def test_questions_are_broken_down_by_hops() -> None:
    board = board_of(*run_of(GOOD, lambda place: place % 2 == 0))
    hops = board.cells[0].breakdown["hops"]
    assert [(value, group["answer_f1"].mean, group["answer_f1"].n) for value, group in hops.items()] == [
        ("2", 1.0, N // 2),
        ("3", 0.0, N // 2),
    ]


def test_latency_leaves_out_the_warm_up_and_says_how_long_it_took() -> None:
    first, *others = run_of(GOOD, lambda place: True)
    board = board_of(replace(first, warm_up=True, wall_seconds=60.5), *others)
    row = board.cells[0]
    assert (row.n_warm_up, row.latency_seconds.n_measured) == (1, N - 1)
    assert row.warm_up_seconds == pytest.approx(others[0].latency_seconds + 60.0)
    assert row.latency_seconds.mean == pytest.approx(others[0].latency_seconds)
    replayed = replace(first, warm_up=True, calls=(replace(first.calls[0], replayed=True),))
    assert board_of(replayed, *others).cells[0].warm_up_seconds is None


def test_the_latency_probe_stands_beside_the_latency() -> None:
    probed, other = board_of(*three_cells(), probe={GOOD.key: [1.0, 3.0]}).cells[:2]
    assert probed.serial_latency_seconds is not None
    assert (probed.serial_latency_seconds.mean, probed.serial_latency_seconds.n_measured) == (2.0, 2)
    assert other.serial_latency_seconds is None


def test_every_question_has_one_class_of_failure() -> None:
    for row in board_of(*three_cells()).cells:
        assert row.failures is not None
        assert row.failures.n_questions == N


def test_cells_that_were_asked_fewer_questions_meet_the_others_on_those() -> None:
    few = [answered(one, "yes", ("d1",), of=cell("few")) for one in IDS[:20]]
    board = board_of(*run_of(GOOD, lambda place: place >= 10), *few)
    (f1,) = [one for one in board.comparisons if one.metric == "answer_f1"]
    assert f1.n == 20
    assert f1.difference == pytest.approx(-0.5)


def test_it_survives_its_file() -> None:
    board = board_of(*three_cells(), *run_of(ORACLE, lambda place: True), *run_of(CLOSED_BOOK, lambda place: False))
    assert Leaderboard.model_validate_json(board.model_dump_json()) == board
