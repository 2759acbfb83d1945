from __future__ import annotations

import io

from rich.console import Console

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.gap import GapSummary
from arena.report.sections.breakdown import gap_notes, gap_rows, print_gaps
from tests.unit.leaderboard.boards import board, row

KNOWN = GapSummary(recovered=0.512, ci_low=0.301, ci_high=0.699, per_thousand_tokens=0.26, n=120)
UNKNOWN = GapSummary(recovered=None, n=120, withheld="the oracle is not above closed book")


def shown(leaderboard: Leaderboard) -> str:
    out = io.StringIO()
    print_gaps(leaderboard, Console(file=out, width=120))
    return out.getvalue()


def test_a_row_for_each_cell_between_the_controls() -> None:
    made = board(
        row("vanilla").model_copy(update={"gap": KNOWN}),
        row("ircot").model_copy(update={"gap": UNKNOWN}),
        row("adaptive").model_copy(update={"gap": UNKNOWN}),
        row("oracle", "gold"),
    )
    assert gap_rows(made).rows == (("vanilla", "hybrid_rerank", "120", "+0.51", "+0.30 to +0.70", "+0.26"),)
    assert list(gap_notes(made)) == [
        "withheld, the oracle is not above closed book: ircot hybrid_rerank, adaptive hybrid_rerank."
    ]


def test_it_says_what_0_and_1_are_and_nothing_without_controls() -> None:
    assert "closed_book (0) to oracle (1)" in shown(board(row().model_copy(update={"gap": KNOWN})))
    assert "withheld, the oracle" in shown(board(row().model_copy(update={"gap": UNKNOWN})))
    assert shown(board(row())) == ""
