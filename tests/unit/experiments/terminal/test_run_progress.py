from __future__ import annotations

import io
import time
from collections.abc import Iterator

import pytest

from experiments.terminal.progress import (
    CellCounts,
    Reporter,
    RunCounts,
    duration_text,
    live_table,
    plain_lines,
    progress_line,
)
from experiments.terminal.tables import Console
from tests.patience import wait_until
from tests.samples import answered, cell, failed


def tally(total: int = 20, clock: Iterator[float] | None = None) -> RunCounts:
    cells = {cell().key: CellCounts(("vanilla", "dense"), total)}
    times = clock or iter(lambda: 0.0, 1.0)
    return RunCounts(cells, lambda call: 0.25, lambda: next(times))


def every_second() -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += 1.0


def test_a_line_says_how_far_and_at_what_price() -> None:
    run = tally(2_000, clock=iter([0.0, 4.0, 4.0]))
    for number in range(2):
        run.add(answered(f"q{number}", "x"))
    assert progress_line(run) == "answers: 2/2,000, 0 failed, 210 tokens, $0.5, 0.5/s, 1:06:36 left"
    assert progress_line(tally()) == "answers: 0/20, 0 failed, ? left"


def test_the_end_says_nothing_of_what_is_left() -> None:
    run = tally(1, clock=every_second())
    run.add(failed("q1"))
    assert progress_line(run) == "answers: 1/1, 1 failed, $0.25, 1.0/s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "?"), (0.4, "0:00"), (59.6, "1:00"), (3_599.0, "59:59"), (3_600.0, "1:00:00")]
)
def test_durations_are_read_like_a_clock(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_a_line_comes_at_every_tenth() -> None:
    said: list[str] = []
    with plain_lines(tally(20), said.append) as note:
        for number in range(20):
            note(answered(f"q{number}", "x"))
    assert [line.split(",")[0] for line in said] == [f"answers: {done}/20" for done in range(2, 21, 2)]


def test_a_line_comes_after_a_long_silence() -> None:
    said: list[str] = []
    run = RunCounts({cell().key: CellCounts(("vanilla", "dense"), 1_000)}, lambda call: None, time.perf_counter)
    with plain_lines(run, said.append, silence_seconds=0.05) as note:
        note(answered("q1", "x"))
        wait_until(lambda: said)
    assert said[0].startswith("answers: 1/1,000, 0 failed")


def test_a_terminal_shows_every_cell_and_the_whole() -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    run = tally(3, clock=every_second())
    with live_table(run, terminal) as note:
        note(answered("q1", "x"))
        note(failed("q2"))
    shown = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "answers: 2/3, 1 failed, 105 tokens" in shown
    row = next(line for line in shown.splitlines()[::-1] if "vanilla" in line)
    assert row.split()[:6] == ["vanilla", "dense", "2/3", "1", "105", "0.5"]


class ClosedTerminal(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_closed_terminal_does_not_end_the_work(terminal: bool) -> None:
    reporter = Reporter(Console(file=ClosedTerminal(), force_terminal=terminal))
    reporter.warn("something")
    with reporter.answers(tally(2)) as note:
        note(answered("q1", "x"))
    assert reporter.warnings == ["something"]


def test_warnings_are_collected_once_each_even_when_quiet() -> None:
    reporter = Reporter(Console(file=io.StringIO()), quiet=True)
    for text in ("b", "a", "b"):
        reporter.warn(text)
    assert reporter.warnings == ["b", "a"]


def test_quiet_counts_and_shows_nothing() -> None:
    shown = io.StringIO()
    run = tally(2)
    with Reporter(Console(file=shown), quiet=True).answers(run) as note:
        note(answered("q1", "x"))
    assert (run.whole.done, shown.getvalue()) == (1, "")
