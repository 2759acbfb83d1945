"""Progress of long work: live in a terminal, plain lines otherwise. On stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from experiments.terminal.console import Console
from experiments.terminal.run_progress import Note, live_table, plain_lines
from experiments.terminal.run_tally import RunTally

Advance = Callable[[int, int], None]
"""(done, total): how far the work is, in its own unit."""


class Reporter:
    """Says what is going on. `quiet` says nothing but warnings.

    `warnings`: those given so far, in order, each once.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self.warnings: list[str] = []

    def say(self, text: str) -> None:
        """One line, not taken for markup."""
        if not self._quiet:
            self._print(text)

    def warn(self, text: str) -> None:
        """One line that is shown even when quiet."""
        if text not in self.warnings:
            self.warnings.append(text)
        self._print(f"warning: {text}", style="yellow")

    def _print(self, text: str, style: str | None = None) -> None:
        with suppress(OSError):  # nobody reads on; that a terminal was closed is no reason to lose the work
            self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def answers(self, tally: RunTally) -> Iterator[Note]:
        """Progress of a run, cell by cell; hand it every record."""
        if self._quiet:
            yield tally.add
        elif self._console.is_terminal:
            with live_table(tally, self._console) as note:
                yield note
        else:
            with plain_lines(tally, self.say) as note:
                yield note

    @contextmanager
    def items(self, label: str) -> Iterator[Advance]:
        """Progress counted in things (passages, questions), with their number per second and the time left."""
        with self._bar(label, (MofNCompleteColumn(), _Rate())) as advance:
            yield advance

    @contextmanager
    def bytes(self, label: str) -> Iterator[Advance]:
        """Progress counted in bytes."""
        with self._bar(label, (DownloadColumn(), TransferSpeedColumn())) as advance:
            yield advance

    @contextmanager
    def _bar(self, label: str, counters: tuple[ProgressColumn, ...]) -> Iterator[Advance]:
        if self._quiet:
            yield lambda done, total: None
        elif not self._console.is_terminal:
            yield _tenths(label, self.say)
        else:
            columns = (TextColumn("{task.description}"), BarColumn(), *counters, TimeRemainingColumn())
            progress = Progress(*columns, console=self._console)
            task = progress.add_task(label, total=None)

            def advance(done: int, total: int) -> None:
                progress.start()  # not before: what is here already is not downloaded, and an index not embedded
                progress.update(task, completed=done, total=total)

            try:
                yield advance
            finally:
                progress.stop()


class _Rate(ProgressColumn):
    """Things done per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f}/s" if task.speed else "")


def _tenths(label: str, say: Callable[[str], None], clock: Callable[[], float] = perf_counter) -> Advance:
    """Speak at 10 %, 20 %, ... of the work, once each, with the rate so far and what it leaves to wait."""
    said, first, started = 0, 0, clock()

    def advance(done: int, total: int) -> None:
        nonlocal said, first, started
        if said == 0 and done < total / 10:
            first, started = done, clock()
        reached = 10 * done // total if total else 10
        if reached > said:
            said = reached
            rate = (done - first) / max(clock() - started, 1e-9)
            left = f", {rate:,.1f}/s, {(total - done) / rate:.0f} s left" if done > first and done < total else ""
            say(f"{label}: {done:,}/{total:,}{left}")

    return advance
