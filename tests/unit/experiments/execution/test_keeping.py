from __future__ import annotations

from pathlib import Path

import anyio

from arena.store.journal import RECORD_LINES, JournalWriter, entries
from experiments.execution.process import keeper
from tests.samples import answered


def test_what_is_handed_in_before_a_stop_is_kept(tmp_path: Path) -> None:
    """Cancelled before the first append began, and while all others wait for their turn."""
    path, names = tmp_path / "records.jsonl", [f"q{number}" for number in range(20)]

    async def main() -> None:
        with JournalWriter(path, RECORD_LINES) as writer:
            keep = keeper(writer)
            async with anyio.create_task_group() as group:
                for name in names:
                    group.start_soon(keep, answered(name, "x"))
                group.cancel_scope.cancel()

    anyio.run(main)
    assert sorted(entry.question_id for entry in entries(path, RECORD_LINES)) == sorted(names)
