from __future__ import annotations

from dataclasses import replace

from arena.types import CallAttempt, LLMCall, PaidAttempt
from experiments.terminal.progress import CellCounts, RunCounts, progress_line
from tests.samples import answered, call, cell, failed


def flat(asked: LLMCall) -> float | None:
    """A cent a call; that of another model is unknown."""
    return 0.01 if asked.model == "fake:" else None


def tally(kept: int = 0, seconds: list[float] | None = None) -> RunCounts:
    """Two cells of 4 questions; the clock says `seconds`, one after the other."""
    times = iter(seconds or [0.0] * 99)
    cells = {
        cell("vanilla").key: CellCounts(("vanilla", "dense"), 4, kept),
        cell("ircot").key: CellCounts(("ircot", "dense"), 4),
    }
    return RunCounts(cells, flat, lambda: next(times))


def test_records_are_counted_in_their_cell_and_in_the_whole() -> None:
    run = tally(kept=1)
    run.add(answered("q1", "x"))
    run.add(failed("q2", of=cell("ircot")))
    vanilla, ircot = run.cells
    assert (vanilla.done, vanilla.failed, vanilla.tokens, vanilla.usd) == (2, 0, 105, 0.01)
    assert (ircot.done, ircot.failed, ircot.tokens) == (1, 1, 0)
    assert (run.whole.done, run.whole.total, run.whole.kept, run.whole.failed, run.whole.tokens) == (3, 8, 1, 1, 105)


def test_replayed_calls_are_not_paid_now() -> None:
    run = tally()
    run.add(replace(answered("q1", "x"), calls=(call(replayed=True), call())))
    assert (run.whole.tokens, run.whole.usd) == (105, 0.01)


def test_money_is_unknown_until_a_price_is() -> None:
    run = tally()
    run.add(replace(answered("q1", "x"), calls=(call(model="local:x"),)))
    assert run.whole.usd is None
    run.add(answered("q2", "x"))
    assert run.whole.usd == 0.01


def test_the_time_left_follows_the_rate_of_this_process() -> None:
    run = tally(kept=2)
    assert run.whole.seconds_left(10.0) is None
    run.add(answered("q3", "x"))
    assert run.whole.seconds_left(10.0) == 50.0
    assert run.cells[0].seconds_left(10.0) == 10.0


def test_attempts_that_are_made_again_are_told_before_any_record_comes() -> None:
    run = tally()
    assert "reply" not in progress_line(run)
    for fault in (None, "no reply within 120 s", "no reply within 120 s"):
        run.attempted(PaidAttempt("question", "fake:", "generate", "", 1, CallAttempt(None, None, fault=fault)))
    assert "0 failed, 2 attempts without a reply" in progress_line(run)
