"""Builds of an index killed outright: nothing half-made is ever opened, and hardly anything is embedded twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from arena.protocols import Embedding
from arena.types import Document
from indexing.build import build_index
from indexing.lock import work_folder
from indexing.verify import verify_index
from tests.letter_embedder import LetterEmbedder

ROOT = Path(__file__).parents[2]
SLICE = 5
OLD = [Document(f"old{number}", "", f"old text {number}") for number in range(3)]
NEW = [Document(f"d{number:02}", f"Title {number}", "word " * (number % 9 + 1)) for number in range(60)]

BUILD = """
import sys
from pathlib import Path
from tests.integration.test_index_kill import build

print("ready", flush=True)
build(Path(sys.argv[1]), Path(sys.argv[2]))
"""


class Slow(LetterEmbedder):
    """Takes its time, and writes down every batch it begins."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{sorted(texts)}\n")
        time.sleep(0.04)
        return super().embed_passages(texts)


def build(folder: Path, log: Path) -> None:
    """What a user's build does."""
    build_index(NEW, Slow(log), folder, slice_size=SLICE)


def kill_builds(root: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kill `kills` builds, each at a random moment of its own, and finish each; gives how many left the old index
    standing and how many batches were embedded twice. Run it by hand with more kills than a test has time for.
    """
    moments = random.Random(seed)
    started = time.monotonic()
    build(root / "measured", root / "measured.log")
    usual_seconds = time.monotonic() - started
    stood = repeated = 0
    for number in range(kills):
        folder, log = root / str(number), root / f"{number}.log"
        build_index(OLD, LetterEmbedder(), folder)
        _kill(folder, log, usual_seconds * moments.random())
        old, new = not verify_index(folder, OLD), not verify_index(folder, NEW)
        assert old or new or not folder.exists()
        stood += old
        if not new:
            build(folder, log)
        assert verify_index(folder, NEW, embedder=LetterEmbedder()) == []
        assert new or not work_folder(folder).exists()
        begun = Counter(log.read_text(encoding="utf-8").splitlines())
        assert len(begun) == len(NEW) // SLICE
        again = begun.total() - len(begun)
        assert again <= 1
        repeated += again
    return stood, repeated


def _kill(folder: Path, log: Path, after_seconds: float) -> None:
    command = [sys.executable, "-c", BUILD, str(folder), str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after_seconds)
        process.kill()


def test_a_killed_build_is_finished_by_the_next(tmp_path: Path) -> None:
    stood, repeated = kill_builds(tmp_path, kills=5, seed=7)
    assert stood >= 1
    assert repeated <= 5
