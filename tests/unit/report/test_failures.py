from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.diagnosis import FailureCount, FailureSummary, summarise_failures
from arena.metrics.failures import FailureFinding, failure_classes
from arena.report.names import marks_of
from arena.report.section import Block, rows_of
from arena.report.sections.failures import failures
from tests.unit.leaderboard.boards import board, printed, row

FINDINGS = [
    FailureFinding("correct"),
    FailureFinding("rank_miss", 2, "d2"),
    FailureFinding("provider_failed"),
    FailureFinding("rank_miss", 1, "d1"),
    FailureFinding("correct"),
    FailureFinding("incomplete_chain", 2, "d2"),
    FailureFinding("format_only"),
]


def shown(leaderboard: Leaderboard, width: int = 100, *, terminal: bool = False) -> str:
    return printed(failures(leaderboard, marks_of(leaderboard)), width, terminal=terminal)


def block_of(leaderboard: Leaderboard) -> Block:
    section = failures(leaderboard, marks_of(leaderboard))
    assert section is not None
    return section.blocks[0]


def test_classes_are_counted_in_the_order_of_the_table() -> None:
    summary = summarise_failures(FINDINGS)
    assert [(count.failure, count.n) for count in summary.counts] == [
        ("provider_failed", 1),
        ("rank_miss", 2),
        ("incomplete_chain", 1),
        ("format_only", 1),
        ("correct", 2),
    ]
    assert summary.broken_hops == {1: 1, 2: 2}
    assert summary.n_questions == 7


def test_nothing_asked_is_an_empty_waterfall() -> None:
    assert summarise_failures([]) == FailureSummary(counts=[])


def test_a_class_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(KeyError):
        summarise_failures([FailureFinding("bad_luck")])


@given(
    st.lists(st.builds(FailureFinding, st.sampled_from(sorted(failure_classes())), st.sampled_from([None, 1, 2, 3])))
)
def test_the_waterfall_sums_to_the_questions(findings: list[FailureFinding]) -> None:
    summary = summarise_failures(findings)
    assert sum(count.n for count in summary.counts) == summary.n_questions == len(findings)
    assert sum(summary.broken_hops.values()) == sum(finding.hop is not None for finding in findings)
    assert FailureSummary.model_validate_json(summary.model_dump_json()) == summary


def test_classes_stand_below_and_cells_beside_each_other() -> None:
    fewer = [FailureFinding("index_miss", 1, "d1"), FailureFinding("correct")]
    cells = [
        row(name, "dense").model_copy(update={"failures": summarise_failures(found)})
        for name, found in (("vanilla", FINDINGS), ("ircot", fewer))
    ]
    grid = block_of(board(cells[0], row("no_waterfall"), cells[1])).grid
    assert grid is not None
    content = rows_of(grid)
    assert content.headings == ("class", "vanilla\ndense", "ircot\ndense")
    assert content.rows == (
        ("provider_failed", "1", "·"),
        ("index_miss", "·", "1"),
        ("rank_miss", "2", "·"),
        ("incomplete_chain", "1", "·"),
        ("format_only", "1", "·"),
        ("correct", "2", "1"),
        ("all", "7", "2"),
        ("first missing: hop 1", "1", "1"),
        ("first missing: hop 2", "2", "·"),
    )


def test_each_class_that_occurs_is_explained_once() -> None:
    cells = [row(name).model_copy(update={"failures": summarise_failures(FINDINGS)}) for name in ("a", "b")]
    assert [note for (note,) in block_of(board(*cells)).notes] == [
        f"{name}: {failure_classes()[name].meaning}."
        + (f" Act on {failure_classes()[name].remedy}." if failure_classes()[name].remedy else "")
        for name in ("provider_failed", "rank_miss", "incomplete_chain", "format_only", "correct")
    ]


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("n_cells", [1, 30])
def test_it_fits_a_terminal_and_a_pipe_gets_one_table(width: int, n_cells: int) -> None:
    every = summarise_failures(FailureFinding(name) for name in failure_classes())
    cells = [row(f"strategy_{n}").model_copy(update={"failures": every}) for n in range(n_cells)]
    text = shown(board(*cells), width, terminal=True)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert all(name in text for name in (*failure_classes(), *(cell.strategy for cell in cells)))
    piped = shown(board(*cells), width).splitlines()
    assert sum(line.startswith("class ") for line in piped) == 1
    assert sum(line.startswith("index_miss ") for line in piped) == 1


def test_a_class_of_another_version_is_shown_by_its_name() -> None:
    strange = FailureSummary(counts=[FailureCount(failure="[red]new_class", n=1)])
    assert "[red]new_class" in shown(board(row().model_copy(update={"failures": strange})))


def test_a_board_without_waterfalls_prints_nothing() -> None:
    assert shown(board(row())) == ""
