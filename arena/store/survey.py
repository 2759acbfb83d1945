"""Find which lines of a journal count, the newest of every key, and put a finished journal in input order.

The order is the same at any concurrency. Lines that were written again later are kept beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from arena.plan import Key
from arena.store.files import replace
from arena.store.journal import Line, Runs, scan

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
    """Read through a journal once, parsing no record. Raises as `arena.store.journal.scan`."""
    found = Survey()
    for line in scan(path, runs):
        if line.key in found.newest:
            found.older.append(found.newest[line.key])
        found.newest[line.key] = (line.start, line.end)
        found.end = line.end
    return found


def seal(path: Path, superseded: Path, order: Sequence[Key], found: Survey, runs: Runs | None) -> None:
    """Rewrite a journal of run records in the order of `order`, atomically; records outside it are kept, last.

    Lines whose key was written again later go to `superseded`, first: a kill in between leaves them in both, and
    readers of both count them once. Holds offsets, not records. `found`: what the journal holds.
    """
    if found.older:
        known = {line.text for line in scan(superseded, runs)}
        lines = [text for text in _lines(path, found.older) if text not in known]
        replace(superseded, lambda out: _continue(superseded, lines, out))
    spans: dict[tuple[str, ...], Span] = dict(found.newest)
    listed = [spans.pop(key) for key in order if key in spans]
    replace(path, _copying(path, [*listed, *spans.values()]))


def seal_verdicts(path: Path, order: Sequence[Key], runs: Runs | None) -> None:
    """Rewrite a journal of verdicts by the place of what they judge in `order`, then by key; every line is kept."""
    place: Mapping[tuple[str, ...], int] = {key: number for number, key in enumerate(order)}
    lines = [(place.get(line.key[:2], len(place)), line.key, line.start, line.end) for line in scan(path, runs)]
    if lines:
        replace(path, _copying(path, [(start, end) for _, _, start, end in sorted(lines)]))


def _lines(path: Path, spans: Sequence[Span]) -> Iterator[bytes]:
    with path.open("rb") as source:
        for start, end in spans:
            source.seek(start)
            yield source.read(end - start)


def _copying(path: Path, spans: Sequence[Span]) -> Callable[[BinaryIO], None]:
    def write(out: BinaryIO) -> None:
        for line in _lines(path, spans):
            out.write(line)

    return write


def _continue(path: Path, lines: Sequence[bytes], out: BinaryIO) -> None:
    if path.exists():
        with path.open("rb") as source:
            shutil.copyfileobj(source, out)
    out.writelines(lines)
