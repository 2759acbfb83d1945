"""The pages of the server: its own, and the reports of runs, kept while the run folder stays as it is.

Names out of run folders are escaped. Work that takes longer than a reader waits is done beside the replies, each piece
by one thread at a time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from arena.report.figures import UNDEFINED, metric_text
from arena.store import LABELS, LEADERBOARD, MANIFEST, PLAN, PROBE, RECORDS, VERDICTS, RunStore
from experiments.terminal.tables import Console
from experiments.views.serve.runs import file_stamp
from experiments.views.serve.watch import HEADLINE, RunProgress, StudyProgress

if TYPE_CHECKING:
    from jinja2 import Environment

ReportOf = Callable[[RunStore], str]
"""A run -> its report, one HTML page."""

_KEPT = 4
"""Reports held at once, of up to 8 MB each."""

_MADE_OF = (MANIFEST, PLAN, RECORDS, VERDICTS, PROBE, LABELS, LEADERBOARD)


def report_page(store: RunStore) -> str:
    """The report of a run as it stands. Writes nothing.

    Raises:
        UserError: the run or its data cannot be read.
    """
    from arena.report.html import render
    from experiments.terminal.progress import Reporter
    from experiments.views.report import page_source

    return render(page_source(store, Reporter(Console(stderr=True), quiet=True)))


@dataclass(slots=True)
class Reports:
    """One report is made at a time: two at once would take twice the memory and no less time."""

    make: ReportOf = report_page
    _kept: OrderedDict[str, tuple[object, str]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _making: Lock = field(default_factory=Lock)

    def kept(self, store: RunStore) -> str | None:
        """The page where it is at hand; None: it has to be made."""
        with self._lock:
            kept = self._kept.get(str(store.folder))
            if kept is None or kept[0] != _state(store):
                return None
            self._kept.move_to_end(str(store.folder))
            return kept[1]

    def of(self, store: RunStore) -> str:
        """The page, which may take long. Raises whatever `make` does."""
        with self._making:
            page = self.kept(store)
            if page is not None:
                return page
            state = _state(store)
            page = self.make(store)
            with self._lock:
                self._kept[str(store.folder)] = (state, page)
                self._kept.move_to_end(str(store.folder))
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return page


def _state(store: RunStore) -> object:
    """What changes with any file that a report is made of."""
    return [file_stamp(store.folder / name) for name in _MADE_OF]


STATIC = {"live.js": "text/javascript", "theme.js": "text/javascript", "arena.css": "text/css"}
"""What pages load beside themselves -> its type."""


def index_page(runs_dir: str, runs: list[RunProgress], studies: list[StudyProgress]) -> str:
    """The list of runs and studies. While one of them goes on, the browser asks for it again by itself."""
    rows = [(run, {metric: _best(run, metric) for metric in HEADLINE}) for run in runs]
    running = any(run.status == "running" or run.reading for run in runs)
    return page("index", runs_dir=runs_dir, rows=rows, metrics=HEADLINE, running=running, studies=studies)


def page(name: str, **content: object) -> str:
    """A page of one run: `live` goes on and is kept up to date by its script, `making` asks again, `damaged`."""
    return _environment().get_template(f"{name}.html").render(content)


@cache
def static_text(name: str) -> str:
    """A script or the style sheet; KeyError for a name that is not in STATIC."""
    STATIC[name]
    pages = files("experiments") / "views" / "serve" / "pages"
    if name != "arena.css":
        return (pages / name).read_text(encoding="utf-8")
    base = files("arena") / "report" / "page" / "styles" / "base.css"
    return base.read_text(encoding="utf-8") + (pages / "serve.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("experiments.views.serve", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def _best(run: RunProgress, metric: str) -> tuple[str, str, bool]:
    """(figure, the cell that has it, whether it is of a fake model's answers and says nothing)."""
    best = run.best(metric)
    if best is None:
        return UNDEFINED, "", False
    cell, summary = best
    return metric_text(summary), cell.name, cell.fake and metric.startswith("answer_")


T = TypeVar("T")


@dataclass(slots=True)
class Background(Generic[T]):
    """Pieces of work by name, `at_once` of them at a time. What goes on at the end of the process is dropped."""

    at_once: int
    _going: dict[str, Future[T]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _room: Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._room = Semaphore(self.at_once)

    def of(self, name: str, make: Callable[[], T]) -> Future[T]:
        """What `make` will return: begun now, or the piece of that name that goes on already."""
        with self._lock:
            going = self._going.get(name)
            if going is None:
                going = self._going[name] = Future()
                going.set_running_or_notify_cancel()  # so that nobody who stops waiting cancels it for the others
                Thread(target=self._do, args=(name, going, make), daemon=True).start()
            return going

    def _do(self, name: str, going: Future[T], make: Callable[[], T]) -> None:
        with self._room:
            try:
                made = make()
            except Exception as error:  # noqa: BLE001  it belongs to whoever asks for the result
                self._end(name)
                going.set_exception(error)
            else:
                self._end(name)
                going.set_result(made)

    def _end(self, name: str) -> None:
        with self._lock:
            del self._going[name]


async def wait_for(pieces: Iterable[Future[Any]], seconds: float | None) -> None:
    """Return once all are done, or after `seconds` (None: not before). What ended one is for whoever asks for it."""
    waited = [asyncio.wrap_future(piece) for piece in pieces]
    if waited:
        await asyncio.wait([asyncio.gather(*waited, return_exceptions=True)], timeout=seconds)
