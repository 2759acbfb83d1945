"""How a run's progress is shown: a live table of its cells in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.report.figures import usd_text
from experiments.terminal.console import Console
from experiments.terminal.run_tally import CellTally, RunTally

if TYPE_CHECKING:
    from arena.types import RunRecord

SILENCE_SECONDS = 60.0
"""The longest time without a line."""

_BAR_CHARS = 40

Note = Callable[["RunRecord"], None]


@contextmanager
def live_table(tally: RunTally, console: Console) -> Iterator[Note]:
    """Redraw the table until the work ends; it then stands there as it was last."""
    live = _Live(get_renderable=lambda: _drawn(tally), console=console, refresh_per_second=4)
    with suppress(OSError):
        live.start()
    try:
        yield tally.add
    finally:
        with suppress(OSError):
            live.stop()


class _Live(Live):
    """Goes on when its terminal is closed, as the work does that it shows."""

    def refresh(self) -> None:
        with suppress(OSError):
            super().refresh()


@contextmanager
def plain_lines(
    tally: RunTally, say: Callable[[str], None], silence_seconds: float = SILENCE_SECONDS
) -> Iterator[Note]:
    """A line at every tenth of the whole, and after `silence_seconds` without one."""
    lines = _Lines(tally, say)
    ended = Event()

    def keep_talking() -> None:
        while not ended.wait(silence_seconds / 10):
            lines.break_silence(silence_seconds)

    talker = Thread(target=keep_talking, daemon=True)
    talker.start()
    try:
        yield lines.note
    finally:
        ended.set()
        talker.join()


class _Lines:
    """Decides when a line is due. Two threads call it."""

    def __init__(self, tally: RunTally, say: Callable[[str], None]) -> None:
        self._tally = tally
        self._say = say
        self._lock = Lock()
        self._tenths = self._reached()
        self._spoke_at = tally.elapsed_seconds

    def note(self, record: RunRecord) -> None:
        with self._lock:
            self._tally.add(record)
            reached = self._reached()
            if reached > self._tenths:
                self._tenths = reached
                self._speak()

    def break_silence(self, silence_seconds: float) -> None:
        with self._lock:
            if self._tally.elapsed_seconds - self._spoke_at >= silence_seconds:
                self._speak()

    def _reached(self) -> int:
        whole = self._tally.whole
        return 10 * whole.done // whole.total if whole.total else 10

    def _speak(self) -> None:
        self._spoke_at = self._tally.elapsed_seconds
        self._say(progress_line(self._tally))


def progress_line(tally: RunTally) -> str:
    """Where the whole run stands, as in `answers: 1,200/4,000, 3 failed, 81,204 tokens, $0.41, 12.3/s, 3:48 left`."""
    whole, elapsed = tally.whole, tally.elapsed_seconds
    parts = [f"answers: {whole.done:,}/{whole.total:,}", f"{whole.failed:,} failed"]
    if whole.tokens:
        parts.append(f"{whole.tokens:,} tokens")
    if whole.usd is not None:
        parts.append(f"${usd_text(whole.usd)}")
    if whole.done > whole.kept:
        parts.append(f"{(whole.done - whole.kept) / max(elapsed, 1e-9):,.1f}/s")
    if whole.done < whole.total:
        parts.append(f"{duration_text(whole.seconds_left(elapsed))} left")
    return ", ".join(parts)


def duration_text(seconds: float | None) -> str:
    """As H:MM:SS, or M:SS under an hour; `?` = unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _drawn(tally: RunTally) -> RenderableType:
    """The bar first: where the cells are too many for the terminal, their last rows are what is cut off."""
    bar = Table.grid(padding=(0, 1))
    whole = tally.whole
    bar.add_row(ProgressBar(whole.total or 1, whole.done, width=_BAR_CHARS), Text(progress_line(tally)))
    return Group(bar, _cells(tally))


def _cells(tally: RunTally) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    names = max((len(cell.name) for cell in tally.cells), default=1)
    for heading in ("strategy", "mode", "setting")[:names]:
        table.add_column(heading, overflow="ellipsis", no_wrap=True)
    for heading in ("done", "failed", "tokens", "USD", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in tally.cells:
        table.add_row(*(Text(part) for part in (*cell.name, *_figures(cell, tally.elapsed_seconds))))
    return table


def _figures(cell: CellTally, elapsed_seconds: float) -> tuple[str, ...]:
    return (
        f"{cell.done:,}/{cell.total:,}",
        f"{cell.failed:,}",
        f"{cell.tokens:,}" if cell.tokens else "",
        "" if cell.usd is None else usd_text(cell.usd),
        duration_text(cell.seconds_left(elapsed_seconds)) if cell.done < cell.total else "",
    )
