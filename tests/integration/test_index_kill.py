"""Index builds killed outright: no half-made index is ever opened, and hardly anything is embedded twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.types import Document
from indexing.bm25 import Bm25
from indexing.build import ensure_index
from indexing.embedding.cache import CachedEncoder
from indexing.embedding.embedder import Encoded, LaneEmbedder, TimedEncoded
from indexing.files import work_folder
from indexing.verify import verify_index
from tests.indexes import index_folder
from tests.letter_embedder import LetterEmbedder
from tests.patience import wait_until

ROOT = Path(__file__).parents[2]
BATCH = 5
DOCUMENTS = [Document(f"d{number:02}", f"Title {number}", "word " * (number % 9 + 1)) for number in range(60)]

BUILD = """
import sys
from pathlib import Path
from tests.integration.test_index_kill import build
from tests.patience import wait_until

print("ready", flush=True)
build(Path(sys.argv[1]))
"""


class SlowEncoder:
    """Counts letters, takes its time, and writes down every batch that it begins."""

    identity: Mapping[str, str | int] = {"model": "slow letters", "dtype": "float32"}
    provenance: Mapping[str, str | int | float] = {"device": "cpu"}
    dimension = LetterEmbedder.dimension
    batch_texts = BATCH

    def __init__(self, log: Path) -> None:
        self._log = log

    def passages(self, texts: Sequence[str]) -> Encoded:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{sorted(texts)}\n")
        time.sleep(0.04)
        return Encoded(LetterEmbedder().embed_passages(texts).dense)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        return TimedEncoded(self.passages(texts), (0.0,) * len(texts), (False,) * len(texts))

    def count_truncated(self, texts: Sequence[str]) -> int:
        return 0


def build(place: Path) -> None:
    """What a user's build does: an index in `place / "indexes"`, vectors kept in `place / "embeddings"`."""
    encoder = CachedEncoder(SlowEncoder(place / "begun.log"), place / "embeddings")
    ensure_index(DOCUMENTS, LaneEmbedder(encoder, Bm25()), place / "indexes", slice_size=2 * BATCH).close()
    encoder.close()


def kill_builds(root: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kill `kills` builds, each at a random moment of its own, and finish each; gives how many were killed before
    their index was there, and how many batches were embedded twice. Run it by hand with more kills than a test has
    time for.
    """
    moments = random.Random(seed)
    (root / "measured").mkdir(parents=True)
    build(root / "measured")
    unfinished = repeated = 0
    for number in range(kills):
        place = root / str(number)
        place.mkdir()
        uncached = LaneEmbedder(SlowEncoder(root / "verified.log"), Bm25())
        folder = index_folder(place / "indexes", DOCUMENTS, uncached)
        _kill(place, moments.randint(0, len(DOCUMENTS) // BATCH))
        whole = folder.exists()
        assert not whole or verify_index(folder, DOCUMENTS) == []
        unfinished += not whole
        build(place)
        assert verify_index(folder, DOCUMENTS, embedder=uncached) == []
        repeated += _begun_again(place / "begun.log")
        assert whole or not work_folder(folder).exists()
    return unfinished, repeated


def _begun_again(log: Path) -> int:
    """Batches embedded twice, of which a kill may cost one."""
    begun = Counter(log.read_text(encoding="utf-8").splitlines())
    assert len(begun) == len(DOCUMENTS) // BATCH
    again = begun.total() - len(begun)
    assert again <= 1
    return again


def _kill(place: Path, batches: int) -> None:
    """Once so many batches are begun."""
    command = [sys.executable, "-c", BUILD, str(place)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        log = place / "begun.log"
        wait_until(lambda: not batches or (log.exists() and log.read_bytes().count(b"\n") >= batches), process)
        process.kill()


def test_a_killed_build_is_finished_by_the_next(tmp_path: Path) -> None:
    unfinished, repeated = kill_builds(tmp_path, kills=5, seed=7)
    assert unfinished >= 1
    assert repeated <= 5
