from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from arena.protocols import Embedding
from indexing.build import ensure_index
from indexing.files import WRITER, only_writer, work_folder
from tests.indexes import build_index, index_folder, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS

HOLDER = """
import sys
from pathlib import Path
from indexing.files import only_writer

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


def freed(other: subprocess.Popen[str], told: list[str]) -> Callable[[str], None]:
    """Hears whom a builder waits for, and then lets that one end."""

    def tell(text: str) -> None:
        told.append(text)
        other.communicate("")

    return tell


def test_a_second_builder_waits_and_is_told_for_whom(tmp_path: Path) -> None:
    folder, told = tmp_path / "index", list[str]()
    with holding(folder) as other:
        build_index(DOCUMENTS, LetterEmbedder(), folder, tell=freed(other, told))
    (text,) = told
    assert text.startswith(f"the index {str(folder)!r} is being built by process {other.pid} on {socket.gethostname()}")
    assert text.endswith(": waiting for it")
    open_index(folder, DOCUMENTS, LetterEmbedder()).close()


def test_what_the_other_one_built_is_opened_not_built_again(tmp_path: Path) -> None:
    folder, told = index_folder(tmp_path, DOCUMENTS, LetterEmbedder()), list[str]()
    with holding(folder) as other:

        def tell(text: str) -> None:
            build_aside(tmp_path, folder)
            freed(other, told)(text)

        ensure_index(DOCUMENTS, Refusing(), tmp_path, tell=tell).close()
    assert len(told) == 1


def build_aside(root: Path, folder: Path) -> None:
    """What the builder that is waited for does before it lets go."""
    build_index(DOCUMENTS, LetterEmbedder(), root / "aside")
    (root / "aside").rename(folder)


class Refusing(LetterEmbedder):
    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        raise AssertionError("the index was there")


def test_the_death_of_a_builder_holds_nobody_up(tmp_path: Path) -> None:
    folder, told = tmp_path / "index", list[str]()
    with holding(folder) as other:
        ensure_index(DOCUMENTS, LetterEmbedder(), tmp_path, tell=told.append).close()
        assert told == []  # that one builds another index

        def tell(text: str) -> None:
            told.append(text)
            other.kill()

        build_index(DOCUMENTS, LetterEmbedder(), folder, tell=tell)
    assert f"process {other.pid} on" in told[0]
    open_index(folder, DOCUMENTS, LetterEmbedder()).close()


def test_a_builder_that_cannot_be_named_is_waited_for(tmp_path: Path) -> None:
    folder, told = tmp_path / "index", list[str]()
    with holding(folder) as other:
        (work_folder(folder) / WRITER).write_text("{")
        with only_writer(folder, lambda: SINCE, tell=freed(other, told)) as work:
            assert "2026-03-01T12:30:00+00:00" in (work / WRITER).read_text()
    assert "is being built by another process: waiting for it" in told[0]


def test_other_indexes_are_not_held(tmp_path: Path) -> None:
    with only_writer(tmp_path / "one"), only_writer(tmp_path / "two") as work:
        assert work == work_folder(tmp_path / "two")


def test_an_index_is_read_while_its_successor_is_built(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index(DOCUMENTS, LetterEmbedder(), folder)
    with only_writer(folder):
        open_index(folder, DOCUMENTS, LetterEmbedder()).close()
