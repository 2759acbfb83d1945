from __future__ import annotations

from io import StringIO

from experiments.studies.compare.compare import Compared, ComparedRun
from experiments.studies.compare.differences import Difference
from experiments.studies.compare.table import print_compared
from experiments.terminal.tables import Console
from tests.unit.leaderboard.boards import board, row


def compared(*differences: Difference) -> Compared:
    cells = [row(params={"k": k, "run": run}) for run, k in (("[red]a", 5), ("b", 10))]
    runs = tuple(ComparedRun(name, f"runs/{name}", "run_0", "2026-01-01", "finished", 0) for name in ("[red]a", "b"))
    return Compared(board(*cells), runs, differences, ("A note.",))


def shown(width: int, *, terminal: bool, differences: tuple[Difference, ...] = ()) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system=None, legacy_windows=False)
    print_compared(compared(*differences), console)
    return out.getvalue()


def test_every_row_carries_its_run_and_the_setting_it_differs_in() -> None:
    lines = [line.split() for line in shown(80, terminal=False).splitlines()]
    assert [line[:4] for line in lines if "retrieval_only" in line] == [
        ["[red]a", "retrieval_only", "hybrid_rerank", "k=5"],
        ["b", "retrieval_only", "hybrid_rerank", "k=10"],
    ]
    assert ["run", "strategy", "mode", "setting"] in [line[:4] for line in lines]


def test_a_terminal_drops_columns_until_the_rows_fit() -> None:
    text = shown(100, terminal=True)
    assert "No room for" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "[red]a" in text


def test_differences_stand_in_a_column_per_run() -> None:
    text = shown(120, terminal=True, differences=(Difference("retrieval.k", {"[red]a": 5, "b": 10}),))
    assert ["│", "retrieval.k", "│", "5", "│", "10", "│", "scores", "│"] in [line.split() for line in text.splitlines()]
    assert "Nothing:" in shown(120, terminal=True)
