"""Progress of long work, on stderr: live in a terminal, plain lines elsewhere.

Of a run it shows each cell: what is done, what that took, and when the rest will be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import perf_counter

from rich import box
from rich.console import Group, RenderableType
from rich.live import Live
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
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.report.figures import usd_text
from arena.types import LLMCall, PaidAttempt, RunRecord
from experiments.terminal.tables import Console

UsdOf = Callable[[LLMCall], float | None]
"""What a call cost; None = unknown."""


@dataclass(slots=True)
class CellCounts:
    """One cell, or all of them together.

    `done` of `total` questions have a record, `kept` of them since before this process; `failed`, `tokens` and `usd`
    are of this process alone. Unknown tokens and costs are left out: `usd` is None until any cost is known.
    """

    name: tuple[str, ...]
    total: int
    kept: int = 0
    done: int = field(init=False)
    failed: int = 0
    tokens: int = 0
    usd: float | None = None

    def __post_init__(self) -> None:
        self.done = self.kept

    def add(self, record: RunRecord, usd_of: UsdOf) -> None:
        """Count one record. Replayed calls cost nothing now."""
        self.done += 1
        self.failed += record.failure is not None
        for call in record.calls:
            if call.replayed:
                continue
            for attempt in call.attempts:
                self.tokens += (attempt.input_tokens or 0) + (attempt.output_tokens or 0)
            usd = usd_of(call)
            if usd is not None:
                self.usd = (self.usd or 0.0) + usd

    def seconds_left(self, elapsed_seconds: float) -> float | None:
        """Seconds to the end at this process's rate so far; None while it has none."""
        asked = self.done - self.kept
        return elapsed_seconds * (self.total - self.done) / asked if asked else None


class RunCounts:
    """The cells of a run, in their order, and the whole. `unanswered`: attempts of this process without a reply."""

    def __init__(
        self, cells: Mapping[str, CellCounts], usd_of: UsdOf, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`cells`: cell key -> where it stands at the start."""
        self._cells = dict(cells)
        self._usd_of = usd_of
        self._clock = clock
        self._started = clock()
        self.unanswered = 0
        kept = sum(cell.kept for cell in cells.values())
        self.whole = CellCounts(("all",), sum(cell.total for cell in cells.values()), kept)

    @property
    def cells(self) -> Sequence[CellCounts]:
        return tuple(self._cells.values())

    @property
    def elapsed_seconds(self) -> float:
        return self._clock() - self._started

    def add(self, record: RunRecord) -> None:
        """Count one record, of one of the cells."""
        self._cells[record.cell.key].add(record, self._usd_of)
        self.whole.add(record, self._usd_of)

    def attempted(self, paid: PaidAttempt) -> None:
        """Count an attempt at a call: a question whose calls are tried again has not failed, and has no record yet."""
        self.unanswered += paid.attempt.fault is not None


SILENCE_SECONDS = 60.0
"""The longest time without a line."""

_BAR_CHARS = 40

Note = Callable[[RunRecord], None]


@contextmanager
def live_table(tally: RunCounts, console: Console) -> Iterator[Note]:
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
    tally: RunCounts, say: Callable[[str], None], silence_seconds: float = SILENCE_SECONDS
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

    def __init__(self, tally: RunCounts, say: Callable[[str], None]) -> None:
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


def progress_line(tally: RunCounts) -> str:
    """Where the whole run stands, as in `answers: 1,200/4,000, 3 failed, 81,204 tokens, $0.41, 12.3/s, 3:48 left`."""
    whole, elapsed = tally.whole, tally.elapsed_seconds
    parts = [f"answers: {whole.done:,}/{whole.total:,}", f"{whole.failed:,} failed"]
    if tally.unanswered:
        parts.append(f"{tally.unanswered:,} attempts without a reply")
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


def _drawn(tally: RunCounts) -> RenderableType:
    """The bar first: where the cells are too many for the terminal, their last rows are what is cut off."""
    bar = Table.grid(padding=(0, 1))
    whole = tally.whole
    bar.add_row(ProgressBar(whole.total or 1, whole.done, width=_BAR_CHARS), Text(progress_line(tally)))
    return Group(bar, _cells(tally))


def _cells(tally: RunCounts) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    names = max((len(cell.name) for cell in tally.cells), default=1)
    for heading in ("strategy", "mode", "setting")[:names]:
        table.add_column(heading, overflow="ellipsis", no_wrap=True)
    for heading in ("done", "failed", "tokens", "USD", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in tally.cells:
        table.add_row(*(Text(part) for part in (*cell.name, *_figures(cell, tally.elapsed_seconds))))
    return table


def _figures(cell: CellCounts, elapsed_seconds: float) -> tuple[str, ...]:
    return (
        f"{cell.done:,}/{cell.total:,}",
        f"{cell.failed:,}",
        f"{cell.tokens:,}" if cell.tokens else "",
        "" if cell.usd is None else usd_text(cell.usd),
        duration_text(cell.seconds_left(elapsed_seconds)) if cell.done < cell.total else "",
    )


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
    def answers(self, tally: RunCounts) -> Iterator[Note]:
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
