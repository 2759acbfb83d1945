"""Progress of long work: a live bar in a terminal, a plain line every tenth otherwise. On stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

Advance = Callable[[int, int], None]
"""(done, total): how far the work is, in its own unit."""


class Reporter:
    """Says what is going on. `quiet` says nothing but warnings."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet

    def say(self, text: str) -> None:
        """One line, not taken for markup."""
        if not self._quiet:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """One line that is shown even when quiet."""
        self._console.print(f"warning: {text}", style="yellow", markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def items(self, label: str) -> Iterator[Advance]:
        """Progress counted in things (passages, questions)."""
        with self._bar(label, (MofNCompleteColumn(),)) as advance:
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
            with Progress(*columns, console=self._console) as progress:
                task = progress.add_task(label, total=None)
                yield lambda done, total: progress.update(task, completed=done, total=total)


def _tenths(label: str, say: Callable[[str], None]) -> Advance:
    """Speak at 10 %, 20 %, ... of the work, once each."""
    said = 0

    def advance(done: int, total: int) -> None:
        nonlocal said
        reached = 10 * done // total if total else 10
        if reached > said:
            said = reached
            say(f"{label}: {done}/{total}")

    return advance
