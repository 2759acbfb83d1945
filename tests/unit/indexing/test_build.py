from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.errors import ConfigError, DatasetError, IndexMismatchError, UnknownNameError, WeightsError
from arena.protocols import Embedding
from arena.types import Document
from indexing.build import ensure_index
from indexing.engines.ranking import EngineSettings
from indexing.manifest import MANIFEST, corpus_fingerprint, read_manifest
from indexing.opening import Index
from tests.indexes import MiniLMEmbedder, build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS
from tests.tiny_models import WIDTH, build_tiny_minilm

SLOW_BUILD = """
import sys, time
from pathlib import Path
from tests.indexes import build_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS

def wait(done, total, label):
    print("embedding", flush=True)
    time.sleep(60)

build_index(DOCUMENTS, LetterEmbedder(), Path(sys.argv[1]), progress=wait)
"""


class InterruptedBuildError(Exception):
    """Stands for whatever stops a build: Ctrl-C, a full disk, a crash."""


class Breaking(MiniLMEmbedder):
    """Yields one vector that is not finite."""

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        embedded = super().embed_passages(texts)
        embedded.dense[0, 0] = np.inf
        return embedded


def interrupt(done: int, total: int | None, label: str) -> None:
    raise InterruptedBuildError


def names(folder: Path) -> list[str]:
    """What lies there, but for the locks."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_built_index_opens(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    built = build_index(
        DOCUMENTS, embedder, tmp_path / "index", progress=lambda done, total, _: seen.append((done, total))
    )
    with open_index(tmp_path / "index", DOCUMENTS, embedder) as index:
        assert index.manifest == built == read_manifest(tmp_path / "index")
        assert [passage.passage_id for passage in index.passages] == ["d1", "d2", "d3", "d4"]
        assert index.engine.count() == 4
    assert seen[-1] == (4, 4)
    assert names(tmp_path) == ["index"]


def test_the_manifest_says_what_was_built(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    manifest = build_index(DOCUMENTS, embedder, tmp_path / "index")
    assert manifest.identity.corpus == corpus_fingerprint(DOCUMENTS)
    assert manifest.identity.embedder == embedder.identity
    assert manifest.identity.dimension == WIDTH
    assert manifest.identity.engine == "edge"
    assert (manifest.documents, manifest.passages) == (4, 4)
    assert manifest.truncated_passages == 4  # the tiny model reads 32 letters
    assert manifest.provenance["device"] == "cpu"
    assert float(manifest.provenance["average_terms"]) > 1


def test_the_fingerprint_reads_ids_titles_and_texts() -> None:
    base = corpus_fingerprint(DOCUMENTS)
    assert corpus_fingerprint(DOCUMENTS[::-1]) == base
    changed = [
        Document("x", DOCUMENTS[0].title, DOCUMENTS[0].text),
        Document("d1", "x", DOCUMENTS[0].text),
        Document("d1", DOCUMENTS[0].title, "x"),
    ]
    assert len({base, *(corpus_fingerprint([document, *DOCUMENTS[1:]]) for document in changed)}) == 4
    assert corpus_fingerprint([Document("d1", "a", "b\n")]) != corpus_fingerprint([Document("d1", "a\n", "b")])


def test_another_corpus_is_refused_with_both_values(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    build_index(DOCUMENTS, embedder, tmp_path / "index")
    with pytest.raises(IndexMismatchError) as refused:
        open_index(tmp_path / "index", DOCUMENTS[:3], embedder)
    for expected in (corpus_fingerprint(DOCUMENTS), corpus_fingerprint(DOCUMENTS[:3]), "arena index build"):
        assert expected in str(refused.value)


def test_another_model_is_refused_with_both_values(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    other = MiniLMEmbedder(build_tiny_minilm(tmp_path / "weights", seed=1), device="cpu")
    build_index(DOCUMENTS, embedder, tmp_path / "index")
    with pytest.raises(IndexMismatchError) as refused:
        open_index(tmp_path / "index", DOCUMENTS, other)
    assert "embedder.weights_sha256" in str(refused.value)
    for model in (embedder, other):
        assert str(model.identity["weights_sha256"]) in str(refused.value)


def test_no_index_is_a_message(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    with pytest.raises(IndexMismatchError, match="no index in"):
        open_index(tmp_path / "nowhere", DOCUMENTS, embedder)


@pytest.mark.parametrize("documents", [(), (DOCUMENTS[0], DOCUMENTS[0])])
def test_a_corpus_must_hold_distinct_documents(
    embedder: MiniLMEmbedder, tmp_path: Path, documents: Sequence[Document]
) -> None:
    with pytest.raises(DatasetError):
        build_index(documents, embedder, tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_an_interrupted_build_leaves_nothing(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    with pytest.raises(InterruptedBuildError):
        build_index(DOCUMENTS, embedder, tmp_path / "index", progress=interrupt)
    assert names(tmp_path) == []


def test_an_interrupted_rebuild_leaves_the_old_index(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    build_index(DOCUMENTS, embedder, tmp_path / "index")
    with pytest.raises(InterruptedBuildError):
        build_index(DOCUMENTS[:2], embedder, tmp_path / "index", progress=interrupt)
    open_index(tmp_path / "index", DOCUMENTS, embedder).close()


def test_a_killed_build_leaves_no_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    builder = subprocess.Popen(
        [sys.executable, "-c", SLOW_BUILD, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert builder.stdout is not None
    with builder:
        assert builder.stdout.readline() == "embedding\n"
        builder.kill()
    assert not folder.exists()
    embedder = LetterEmbedder()
    build_index(DOCUMENTS, embedder, folder)
    open_index(folder, DOCUMENTS, embedder).close()


def test_a_file_in_the_way_is_a_message(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match="cannot write an index"):
        build_index(DOCUMENTS, embedder, tmp_path / "cache" / "index")


def test_an_unknown_engine_offers_the_nearest(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'edge'"):
        ensure_index(DOCUMENTS, embedder, tmp_path, engine=EngineSettings("egde"))


def test_a_broken_model_is_named(tiny_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not finite"):
        build_index(DOCUMENTS, Breaking(tiny_folder, device="cpu"), tmp_path / "index")
    assert names(tmp_path) == []


def test_ensure_builds_once(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    first = ensure_index(DOCUMENTS, embedder, tmp_path)
    first.close()
    again = ensure_index(DOCUMENTS, embedder, tmp_path, progress=interrupt)
    assert again.manifest == first.manifest
    again.close()


def test_indexes_of_several_corpora_live_side_by_side(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    for documents in (DOCUMENTS, DOCUMENTS[:2]):
        ensure_index(documents, embedder, tmp_path).close()
    for documents in (DOCUMENTS, DOCUMENTS[:2]):
        ensure_index(documents, embedder, tmp_path, progress=interrupt).close()


def spoil_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text("{")


def spoil_setting(folder: Path) -> None:
    content = json.loads((folder / MANIFEST).read_text())
    content["identity"]["dimension"] = 1
    (folder / MANIFEST).write_text(json.dumps(content))


def lose_shard(folder: Path) -> None:
    shutil.rmtree(folder / "shard")


def lose_points(folder: Path) -> None:
    for segment in (folder / "shard" / "segments").iterdir():
        shutil.rmtree(segment)


def spoil_content(folder: Path) -> None:
    (settings,) = (folder / "shard").glob("segments/*/segment.json")
    settings.write_bytes(b"?" * settings.stat().st_size)


def cut_one_file(folder: Path) -> None:
    """Left to itself, the engine panics on this one."""
    (status,) = (folder / "shard").glob("segments/*/vector_storage-dense/vectors/status.dat")
    status.write_bytes(status.read_bytes()[:4])


def flip_a_bit(folder: Path) -> None:
    """Left to itself, the engine asks for gigabytes here and takes the process down with it."""
    (mappings,) = (folder / "shard").glob("segments/*/mutable_id_tracker.mappings")
    content = bytearray(mappings.read_bytes())
    content[-1] ^= 0x55
    mappings.write_bytes(content)


@pytest.mark.parametrize(
    "spoil", [spoil_manifest, spoil_setting, lose_shard, lose_points, cut_one_file, spoil_content, flip_a_bit]
)
def test_a_damaged_index_is_refused_and_then_rebuilt(embedder: MiniLMEmbedder, tmp_path: Path, spoil: object) -> None:
    ensure_index(DOCUMENTS, embedder, tmp_path).close()
    (folder,) = tmp_path.glob("index-*")
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(IndexMismatchError, match="arena index build"):
        open_index(folder, DOCUMENTS, embedder)
    with ensure_index(DOCUMENTS, embedder, tmp_path) as index:
        assert index.engine.count() == 4
    assert names(tmp_path) == [folder.name]


def everything(index: Index, embedder: MiniLMEmbedder) -> object:
    queries = embedder.embed_queries(["river", "the town of the school", "glass"])
    return index.engine.dense(queries.dense, 4), index.engine.hybrid(queries.dense, queries.sparse, depth=4, rrf_k=60)


def test_two_builds_answer_alike(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    build_index(DOCUMENTS, embedder, tmp_path / "one")
    build_index(DOCUMENTS[::-1], embedder, tmp_path / "two")
    with (
        open_index(tmp_path / "one", DOCUMENTS, embedder) as one,
        open_index(tmp_path / "two", DOCUMENTS, embedder) as two,
    ):
        assert everything(one, embedder) == everything(two, embedder)


def test_another_process_reads_an_open_index(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    build_index(DOCUMENTS, embedder, tmp_path / "index")
    script = (
        "import sys; from pathlib import Path; from indexing.engines.edge import EdgeEngine; import numpy as np;"
        f"engine = EdgeEngine.load(Path(sys.argv[1])); query = np.ones((1, {WIDTH}), np.float32);"
        "print([place.position for place in engine.dense(query, 4)[0].best])"
    )
    with open_index(tmp_path / "index", DOCUMENTS, embedder) as index:
        expected = index.engine.dense(np.ones((1, WIDTH), np.float32), 4)[0].best
        other = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "index" / "shard")],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
        )
    assert other.stdout.strip() == str([place.position for place in expected])
