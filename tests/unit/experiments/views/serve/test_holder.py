from __future__ import annotations

from pathlib import Path

import pytest

from arena.store import RunStore
from experiments.views.serve.runs import is_written

LOCKS = "1: POSIX  ADVISORY  WRITE 11 fe:00:{} 0 EOF\n2: -> FLOCK ADVISORY WRITE 12 fe:00:{} 0 EOF\n\n"


def test_a_lock_that_is_held_is_seen_and_not_touched(tmp_path: Path) -> None:
    if not Path("/proc/locks").exists():
        pytest.skip("this system lists no locks")
    store = RunStore(tmp_path)
    assert is_written(tmp_path) is False
    with store.holding():
        assert is_written(tmp_path) is True
        assert is_written(tmp_path) is True
    assert is_written(tmp_path) is False


def test_only_a_held_lock_of_that_file_counts(tmp_path: Path) -> None:
    (tmp_path / "run.lock").touch()
    inode, listed = (tmp_path / "run.lock").stat().st_ino, tmp_path / "locks"
    listed.write_text(LOCKS.format(inode, inode) + f"3: FLOCK  ADVISORY  WRITE 13 fe:00:{inode}1 0 EOF\n")
    assert is_written(tmp_path, listed) is False
    listed.write_text(listed.read_text() + f"4: FLOCK  ADVISORY  WRITE 14 fe:00:{inode} 0 EOF\n")
    assert is_written(tmp_path, listed) is True


def test_where_the_system_does_not_say_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "run.lock").touch()
    assert is_written(tmp_path, tmp_path / "none") is None
