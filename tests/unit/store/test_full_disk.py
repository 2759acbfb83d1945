from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.errors import RunStoreError
from arena.store import QUESTIONS
from tests.samples import answered, cell
from tests.unit.store.test_store import MANIFEST, new


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A disk that has no room for longer files; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_every_file_as_it_was_and_no_half_of_one(tmp_path: Path) -> None:
    store, long = new(tmp_path), "x" * 10_000
    with store.writing() as writer:
        writer.append(answered("q1", long))
        with files_of_at_most(12_000), pytest.raises(RunStoreError, match="Make room"):
            writer.append(answered("q2", long))
        writer.append(answered("q3", long))  # there is room again
    store.write_leaderboard("{}")
    before = {file.name: file.read_bytes() for file in store.folder.iterdir()}
    writes: list[Callable[[], None]] = [
        lambda: store.write_leaderboard(long),
        lambda: store.seal([(cell().key, "q1")]),
        lambda: store.write_manifest(MANIFEST | {"note": long}),
        lambda: store.write_table(QUESTIONS, {"n": list(range(10_000))}),
    ]
    with files_of_at_most(5_000):
        for write in writes:
            with pytest.raises(RunStoreError, match="the run's records are kept"):
                write()
    assert {file.name: file.read_bytes() for file in store.folder.iterdir()} == before
    assert [record.question_id for record in store.records()] == ["q1", "q3"]
