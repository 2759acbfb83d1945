"""The reports of runs as pages, made when asked for and kept while the run folder stays as it is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from arena.store import LABELS, LEADERBOARD, MANIFEST, PLAN, PROBE, RECORDS, VERDICTS, RunStore
from experiments.terminal.tables import Console

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
    from experiments.reporting.source import page_source
    from experiments.terminal.progress import Reporter

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
    stamps: list[tuple[int, int, int] | None] = []
    for name in _MADE_OF:
        try:
            status = (store.folder / name).stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return stamps
