from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from arena.leaderboard.build import Leaderboard
from arena.report.console import print_leaderboard
from tests.unit.leaderboard.boards import METRIC_NAMES, PATCHY, WITHHELD, board, row

FULL = board(row(llm=None), row("vanilla", "dense"), row("closed_book", "none"))
BROKEN = board(row(llm=None), row("vanilla", metric=PATCHY, failed=2, abstained=4))
FIGURE = "0.56 .49–.63"


def terminal(leaderboard: Leaderboard, width: int) -> str:
    out = io.StringIO()
    print_leaderboard(leaderboard, Console(file=out, width=width, force_terminal=True, color_system=None))
    return out.getvalue()


def pipe(leaderboard: Leaderboard) -> str:
    out = io.StringIO()
    print_leaderboard(leaderboard, Console(file=out, width=80))
    return out.getvalue()


def headings(text: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith("strategy")).split()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("leaderboard", [FULL, BROKEN], ids=["full", "broken"])
def test_a_terminal_shows_every_row_whole(leaderboard: Leaderboard, width: int) -> None:
    text = terminal(leaderboard, width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert text.count("F1") >= 1
    assert text.count(FIGURE) >= 2 * len(leaderboard.cells)  # recall and F1, unbroken
    assert text.count("1,234") == len(leaderboard.cells)
    for cell in leaderboard.cells:
        assert any(cell.strategy in line and cell.retrieval_mode in line for line in text.splitlines())


def test_80_columns_hold_what_always_stays() -> None:
    assert headings(terminal(FULL, 80)) == ["strategy", "mode", "n", "recall", "F1", "tokens"]
    assert headings(terminal(BROKEN, 80)) == ["strategy", "mode", "n", "failed", "recall", "F1", "tokens"]


def test_120_columns_hold_more_and_say_what_is_left_out() -> None:
    text = terminal(FULL, 120)
    assert {"EM", "full"} <= set(headings(text))
    assert not {"precision", "recall@5"} & set(headings(text))
    assert "No room for recall@5, precision" in text


def test_60_columns_get_a_block_for_each_cell() -> None:
    lines = terminal(BROKEN, 60).splitlines()
    start = lines.index("vanilla hybrid_rerank")
    assert lines[start + 1 : start + 6] == [
        "  n       60",
        "  failed  2",
        f"  recall  {FIGURE} [.54, .58]",
        f"  F1      {FIGURE} [.54, .58]",
        "  tokens  1,234",
    ]


def test_no_name_is_too_long_for_a_figure() -> None:
    text = terminal(board(row("x" * 200)), 80)
    assert f"  F1      {FIGURE}" in text.splitlines()


def test_a_pipe_gets_all_columns_on_one_line_a_row() -> None:
    text = pipe(BROKEN)
    lines = text.splitlines()
    assert "…" not in text
    assert "No room" not in text
    vanilla = next(line for line in lines if line.startswith("vanilla"))
    assert vanilla.count(f"{FIGURE} [.54, .58]") == len(METRIC_NAMES)
    assert vanilla.rstrip().endswith("0.41 / 0.93 (2 failed)")
    assert headings(text)[-1] == "seconds"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_bounds_are_shown_wherever_questions_failed(width: int) -> None:
    assert "[.54, .58]" in terminal(BROKEN, width)
    assert "[.37, .71]" in terminal(board(row(metric=WITHHELD, failed=20)), width)
    assert "counted as 0 and as 1" in " ".join(terminal(BROKEN, width).split())
    assert "counted as 0" not in " ".join(terminal(FULL, width).split())


def test_names_from_data_are_text() -> None:
    assert "[bold red]x[/]" in terminal(board(row("[bold red]x[/]")), 120)


def test_the_title_names_data_model_and_run() -> None:
    assert pipe(FULL).startswith("world, 240 documents; model local:smollm2-135m; run r1\n")


def test_a_run_without_cells_is_an_empty_table() -> None:
    assert "no model" in pipe(board())
    assert "no model" in terminal(board(), 10).replace("\n", " ")
