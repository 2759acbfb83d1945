from __future__ import annotations

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.gap import GapSummary
from arena.report.names import marks_of
from arena.report.section import rows_of
from arena.report.sections.breakdown import gap
from tests.unit.leaderboard.boards import board, printed, row

KNOWN = GapSummary(recovered=0.512, ci_low=0.301, ci_high=0.699, per_thousand_tokens=0.26, n=120)
UNKNOWN = GapSummary(recovered=None, n=120, withheld="the oracle is not above closed book")


def shown(leaderboard: Leaderboard) -> str:
    return printed(gap(leaderboard, marks_of(leaderboard)), 120)


def test_a_row_for_each_cell_between_the_controls() -> None:
    made = board(
        row("vanilla").model_copy(update={"gap": KNOWN}),
        row("ircot").model_copy(update={"gap": UNKNOWN}),
        row("adaptive").model_copy(update={"gap": UNKNOWN}),
        row("oracle", "gold"),
    )
    section = gap(made, marks_of(made))
    assert section is not None
    (block,) = section.blocks
    assert block.grid is not None
    assert rows_of(block.grid).rows == (("vanilla", "hybrid_rerank", "120", "+0.51", "+0.30 to +0.70", "+0.26"),)
    (note,) = block.notes
    assert note == ("withheld, the oracle is not above closed book: ircot + hybrid_rerank, adaptive + hybrid_rerank.",)


def test_it_says_what_0_and_1_are_and_nothing_without_controls() -> None:
    assert "closed_book (0) to oracle (1)" in shown(board(row().model_copy(update={"gap": KNOWN})))
    assert "withheld, the oracle" in shown(board(row().model_copy(update={"gap": UNKNOWN})))
    assert shown(board(row())) == ""
