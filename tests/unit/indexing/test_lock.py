from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.errors import ConfigError
from indexing.build import build_index, ensure_index, open_index
from indexing.lock import WRITER, is_being_written, only_writer, work_folder
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS

HOLDER = """
import sys
from pathlib import Path
from indexing.lock import only_writer

with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
SINCE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def holding(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_holds_it(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with only_writer(folder, lambda: SINCE), pytest.raises(ConfigError) as refused:
        build_index(DOCUMENTS, LetterEmbedder(), folder)
    for expected in (str(folder), f"process {os.getpid()} on {socket.gethostname()} since 2026-03-01T12:30:00+00:00"):
        assert expected in str(refused.value)


def test_another_process_is_named_and_its_death_frees_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with holding(folder) as other:
        assert is_being_written(folder)
        ensure_index(DOCUMENTS, LetterEmbedder(), tmp_path).close()
        with pytest.raises(ConfigError, match=f"process {other.pid} on"):
            build_index(DOCUMENTS, LetterEmbedder(), folder)
        other.kill()
    assert not is_being_written(folder)
    build_index(DOCUMENTS, LetterEmbedder(), folder)
    open_index(folder, DOCUMENTS, LetterEmbedder()).close()


def test_an_unreadable_note_still_refuses(tmp_path: Path) -> None:
    with only_writer(tmp_path / "index") as work:
        (work / WRITER).write_text("{")
        with pytest.raises(ConfigError, match="another process"), only_writer(tmp_path / "index"):
            pass


def test_other_indexes_are_not_held(tmp_path: Path) -> None:
    with only_writer(tmp_path / "one"), only_writer(tmp_path / "two") as work:
        assert work == work_folder(tmp_path / "two")


def test_an_index_is_read_while_its_successor_is_built(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index(DOCUMENTS, LetterEmbedder(), folder)
    with only_writer(folder):
        open_index(folder, DOCUMENTS, LetterEmbedder()).close()
