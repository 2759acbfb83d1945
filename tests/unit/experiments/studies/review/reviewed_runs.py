"""A finished run to be reviewed, and sheets of it filled in by rule."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

from arena.datasets import load_dataset
from arena.store import RunStore
from experiments.execution.scoring import conclude_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from tests.samples import answered, cell, failed
from tests.unit.experiments.made_runs import made_run

VANILLA, OTHER = cell("vanilla"), cell("corrective")
SILENT = Reporter(Console(file=io.StringIO()), quiet=True)

Row = dict[str, str]
Filling = Callable[[Row], Mapping[str, str]]


def reviewed_run(folder: Path, data: Path) -> RunStore:
    """Two cells over four questions; one fails, one abstains, one answer looks like a formula and one like a date."""
    spec = f"jsonl:{data}"
    records = [
        answered("q1", "Mirelle Ostrand", ("d1", "d2"), of=VANILLA),
        answered("q1", '=HYPERLINK("http://x","Ostrand")', ("d2",), of=OTHER),
        answered("q2", "1871", ("d1",), of=VANILLA),
        answered("q2", "May 5, 1871", ("d1",), of=OTHER),
        failed("q3", of=VANILLA),
        answered("q3", "The Sarn estuary,\nso they say", ("d4",), of=OTHER),
        answered("q5", "I do not know.", ("d2",), of=VANILLA, abstained=True),
        answered("q5", "Nobody", (), of=OTHER),
    ]
    store = made_run(folder, spec, load_dataset(spec), records)
    with store.holding():
        conclude_run(store, SILENT)
    return store


def rows_of(sheet: Path) -> list[Row]:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, out: Path, filling: Filling, *, delimiter: str = ",") -> Path:
    """The sheet with the cells that `filling` gives for each row."""
    rows = [row | dict(filling(row)) for row in rows_of(sheet)]
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return out
