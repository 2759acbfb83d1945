"""A finished journal in input order, the same at any concurrency; what was written again later is kept beside it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from arena.journal import scan
from arena.journal.reading import Runs
from arena.plan import Key
from arena.store.files import replace
from arena.store.newest import Span, Survey


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
