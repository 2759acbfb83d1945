"""Scores, ledger and leaderboard, derived again from the journals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from arena.files import read_regular
from arena.report.html import render
from arena.scoring import ScoreTable
from arena.scoring.table import question_columns, score_columns
from arena.store import CALLS, LEADERBOARD, QUESTIONS, REPORT, SCORES, RunStore
from arena.store.files import call_lines
from experiments.reporting.source import page_source
from experiments.run.scoring import PastRun, board_of, score_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from experiments.verification.check import Check, attempted, found


def check_results(run: PastRun) -> Iterator[Check]:
    """Whether leaderboard and tables are what the journals give: the one byte for byte, the others value for value."""
    table = score_run(run)
    yield attempted(LEADERBOARD, partial(_check_leaderboard, run, table))
    for name, columns in ((SCORES, score_columns(table)), (QUESTIONS, question_columns(table))):
        yield attempted(name, partial(_check_table, run.store, name, columns))


def check_report(store: RunStore) -> Iterator[Check]:
    """The page, made again and compared."""
    if not (store.folder / REPORT).exists():
        return
    quiet = Reporter(Console(stderr=True), quiet=True)
    wrong = _lines_apart(read_regular(store.folder / REPORT).decode(), render(page_source(store, quiet)))
    yield found(REPORT, [f"{len(wrong)} lines are not what the run's files give"] if wrong else [], "the same page")


def check_calls(store: RunStore) -> Check:
    """The ledger against the journals, line by line."""
    derived = chain(call_lines(store.records()), call_lines(store.superseded(), superseded=True))
    wrong: list[str] = []
    number = 0
    with (store.folder / CALLS).open("rb") as file:
        for number, (written, wanted) in enumerate(zip_longest(file, derived), start=1):
            if written != wanted and not wrong:
                wrong = [f"line {number} is not what the journals say"]
    return found(CALLS, wrong, f"{number} calls")


def _check_leaderboard(run: PastRun, table: ScoreTable) -> Check:
    text = board_of(run, table).model_dump_json(indent=2) + "\n"
    return found(LEADERBOARD, _lines_apart(run.store.leaderboard_json(), text), "the same, byte for byte")


def _check_table(store: RunStore, name: str, columns: Mapping[str, Iterable[Any]]) -> Check:
    written = store.read_table(name)
    wrong = _columns_apart(written, {key: list(values) for key, values in columns.items()})
    return found(name, wrong, f"{len(next(iter(written.values()), []))} rows")


def _lines_apart(written: str, derived: str) -> list[str]:
    pairs = zip_longest(written.splitlines(), derived.splitlines())
    return [
        f"line {number}: {(old or '').strip()} -> {(new or '').strip()}"
        for number, (old, new) in enumerate(pairs, start=1)
        if old != new
    ]


def _columns_apart(written: dict[str, list[Any]], derived: dict[str, Sequence[Any]]) -> list[str]:
    wrong = [f"column {name} is in one of them only" for name in sorted(written.keys() ^ derived.keys())]
    for name in written.keys() & derived.keys():
        rows = [row for row, (old, new) in enumerate(zip_longest(written[name], derived[name])) if old != new]
        wrong += [f"column {name} differs in {len(rows)} rows, first in row {rows[0]}"] if rows else []
    return sorted(wrong)
