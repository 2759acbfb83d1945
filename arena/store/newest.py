"""Which lines of a journal count: the newest of every key."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

from arena.journal import Line, scan
from arena.journal.reading import Runs

Span = tuple[int, int]
"""Where a line lies in its file: bytes, end exclusive."""


@dataclass(slots=True)
class Survey:
    """What a journal holds at one moment. `older`: lines whose key was written again later."""

    newest: dict[tuple[str, ...], Span] = field(default_factory=dict)
    older: list[Span] = field(default_factory=list)
    end: int = 0

    def counts(self, line: Line) -> bool:
        """Whether the line is the newest of its key; one that was written since does not count."""
        return self.newest.get(line.key) == (line.start, line.end)

    def is_older(self, line: Line, apart_from: Container[bytes] = ()) -> bool:
        """Whether the line's key was written again later, and its text is none of `apart_from`."""
        return line.end <= self.end and not self.counts(line) and line.text not in apart_from


def survey(path: Path, runs: Runs | None) -> Survey:
    """Read through a journal once, parsing no record. Raises as `arena.journal.scan`."""
    found = Survey()
    for line in scan(path, runs):
        if line.key in found.newest:
            found.older.append(found.newest[line.key])
        found.newest[line.key] = (line.start, line.end)
        found.end = line.end
    return found


class Surveys:
    """Surveys of the journals of one folder, made anew where a file has changed since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, tuple[object, Survey]] = {}

    def of(self, name: str, runs: Runs | None) -> Survey:
        """The survey of the journal `name`. Raises as `arena.journal.scan`."""
        path = self._folder / name
        try:
            status = path.stat()
        except OSError:
            return survey(path, runs)
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, runs)
        if name not in self._made or self._made[name][0] != stamp:
            self._made[name] = (stamp, survey(path, runs))
        return self._made[name][1]
