"""Records that another point of the sweep has already, taken over instead of asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from arena.plan import Key
from arena.store import RECORDS, VERDICTS, RunStore, key_of
from arena.store.journal import RECORD_LINES, VERDICT_LINES, LineFormat, encode, scan
from arena.types import RunRecord
from experiments.sweeping.cutting import cut_record
from experiments.sweeping.identity import CellIdentity, cuts

REUSED = "reused"
"""Key of the manifest: cell key -> where its records were taken from, and how."""

T = TypeVar("T")

How = Literal["copied", "cut"]


@dataclass(frozen=True, slots=True)
class Source:
    """A cell of another point. `how`: its records as they are, or cut down to fewer hits."""

    point: str
    cell: CellIdentity
    how: How


@dataclass(frozen=True, slots=True)
class Donor:
    """A point that has records. `measured`: keys of the cells that it asked itself."""

    name: str
    cells: tuple[CellIdentity, ...]
    measured: frozenset[str]


def find_source(wanted: CellIdentity, donors: Sequence[Donor]) -> Source | None:
    """Where the records of a cell can be had: the same cell, else the one with the fewest hits that can be cut."""
    own = [(donor.name, cell) for donor in donors for cell in donor.cells if cell.planned.cell.key in donor.measured]
    for point, cell in own:
        if cell.whole == wanted.whole:
            return Source(point, cell, "copied")
    larger = [(point, cell) for point, cell in own if cuts(cell, wanted)]
    return Source(*min(larger, key=lambda one: one[1].k), "cut") if larger else None


def take_over(store: RunStore, wanted: CellIdentity, source: Source, donor: RunStore) -> int:
    """Put into the journal of `store` what it lacks of a cell and the donor has; how many records. Hold the folder.

    With the records of the same cell come the verdicts on them. Lines name the run they are now of.
    """
    missing = {(wanted.planned.cell.key, one) for one in wanted.planned.question_ids} - store.done()
    taken = {key_of(record): record for record in _records(wanted, source, donor, missing)}
    _add(store, RECORDS, RECORD_LINES, list(taken.values()))
    if source.how == "copied":
        known = {VERDICT_LINES.key(one) for one in store.verdicts()}
        said = (one for one in donor.verdicts() if (one.cell, one.question_id) in taken)
        _add(store, VERDICTS, VERDICT_LINES, [one for one in said if VERDICT_LINES.key(one) not in known])
    return len(taken)


def _records(wanted: CellIdentity, source: Source, donor: RunStore, missing: set[Key]) -> Iterator[RunRecord]:
    cell, theirs = wanted.planned.cell, source.cell.planned.cell.key
    for record in donor.records():
        if record.cell.key != theirs or (cell.key, record.question_id) not in missing:
            continue
        made = replace(record, cell=cell) if source.how == "copied" else cut_record(record, cell, wanted.k)
        if made is not None:
            yield made


def _add(store: RunStore, name: str, lines: LineFormat[T], records: Sequence[T]) -> None:
    """Append to a journal, at once."""
    if records:
        runs = store.lines() or {}
        there = [line.text for line in scan(store.folder / name, runs)]
        new = (encode(record, lines, runs.get(lines.key(record)[0], "")) for record in records)
        store.write_journal(name, [*there, *new])
