"""What a run's journals say of one question; no other record is read."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher

from arena.errors import RunStoreError
from arena.store import RECORDS, VERDICTS, RunStore
from arena.store.journal import RECORD_LINES, VERDICT_LINES, record_of
from arena.types import RunRecord, Verdict

_NEAREST = 5


def records_of(store: RunStore, question_id: str, cells: Collection[str]) -> list[RunRecord]:
    """The newest record of the question in each of `cells` that has one."""
    path = store.folder / RECORDS
    lines = (line for line in store.newest_lines(RECORDS) if line.key[1] == question_id and line.key[0] in cells)
    return [record_of(path, line, RECORD_LINES) for line in lines]


def verdicts_of(store: RunStore, question_id: str, cells: Collection[str]) -> list[Verdict]:
    """What judges said of those records, and of what they were before."""
    path = store.folder / VERDICTS
    if not path.exists():
        return []
    lines = (line for line in store.newest_lines(VERDICTS) if line.key[1] == question_id and line.key[0] in cells)
    return [record_of(path, line, VERDICT_LINES) for line in lines]


def check_asked(store: RunStore, question_id: str, asked: Collection[str]) -> None:
    """Raises `RunStoreError`, naming the nearest ids, if the question is not among those of the run."""
    if question_id not in asked:
        near = sorted(asked, key=lambda one: (-SequenceMatcher(None, question_id, one).ratio(), one))[:_NEAREST]
        raise RunStoreError(
            f"run {store.run_id!r} has no question {question_id!r} among its {len(asked):,}; the nearest ids are "
            f"{', '.join(map(repr, near))}"
        )
