from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.errors import IndexMismatchError
from arena.protocols import Embedding
from arena.types import Document
from indexing.build import ensure_index
from indexing.chunking import TokenWindows
from indexing.engines import ENGINES
from indexing.engines.ranking import EngineSettings
from indexing.files import work_folder
from indexing.manifest import MANIFEST, IndexManifest, read_manifest
from indexing.opening import SHARD
from indexing.verify import index_info, list_indexes, verify_index
from tests.indexes import build_index, index_folder, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS


class Drifted(LetterEmbedder):
    """Says it is the same model, and is not."""

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        embedded = super().embed_passages(texts)
        return Embedding(np.roll(embedded.dense, 1, axis=1), embedded.sparse)


class ByToken(LetterEmbedder):
    """Keeps vectors of its tokens, too."""

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        embedded = super().embed_passages(texts)
        return Embedding(embedded.dense, embedded.sparse, tuple(np.ones((3, 2), np.float32) for _ in texts))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "index"
    build_index(DOCUMENTS, LetterEmbedder(), folder)
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return shutil.copytree(built, tmp_path / "index")


def edit(folder: Path, **changes: object) -> None:
    content = read_manifest(folder).model_dump() | changes
    (folder / MANIFEST).write_text(IndexManifest.model_validate(content).model_dump_json())


def test_a_sound_index_has_no_problems(built: Path) -> None:
    assert verify_index(built, DOCUMENTS) == []
    assert verify_index(built, DOCUMENTS[::-1], embedder=LetterEmbedder(), engine=EngineSettings("edge")) == []


def test_another_corpus_is_told(built: Path) -> None:
    problems = "\n".join(verify_index(built, DOCUMENTS[:3]))
    assert "corpus is 'sha256:" in problems
    assert "documents is 4, but is found to be 3" in problems


def test_other_settings_are_told(built: Path) -> None:
    settings = EngineSettings("edge", search="hnsw")
    problems = "\n".join(verify_index(built, DOCUMENTS, chunking=TokenWindows(4), engine=settings))
    assert "chunking.method is 'document', wanted 'tokens'" in problems
    assert "search.search is 'exact', wanted 'hnsw'" in problems


def test_a_flipped_bit_is_found_in_every_file(folder: Path) -> None:
    for path in read_manifest(folder).files:
        content = (folder / path).read_bytes()
        middle = len(content) // 2
        with (folder / path).open("r+b") as file:
            file.seek(middle)
            file.write(bytes([content[middle] ^ 4]))
        (problem,) = verify_index(folder, DOCUMENTS)
        assert f"{str(folder / path)!r} is damaged: SHA-256" in problem
        (folder / path).write_bytes(content)
    assert verify_index(folder, DOCUMENTS) == []


def test_a_lost_file_is_named(folder: Path) -> None:
    lost = folder / next(iter(read_manifest(folder).files))
    lost.unlink()
    assert verify_index(folder, DOCUMENTS) == [f"{str(lost)!r} is missing"]


def test_no_index_is_a_problem(tmp_path: Path) -> None:
    (problem,) = verify_index(tmp_path, DOCUMENTS)
    assert "arena index build" in problem


def test_counts_are_worked_out_anew(folder: Path) -> None:
    edit(folder, empty_passages=3, passages_fingerprint="sha256:0")
    problems = verify_index(folder, DOCUMENTS)
    assert "empty_passages is 3, but is found to be 0" in problems
    assert any(problem.startswith("passages_fingerprint is 'sha256:0'") for problem in problems)


def test_points_that_changed_places_are_noticed(folder: Path) -> None:
    shutil.rmtree(folder / SHARD)
    embedder = LetterEmbedder()
    engine = ENGINES["edge"].create(folder / SHARD, embedder.dimension)
    engine.add([1, 0, 2, 3], embedder.embed_passages([f"{one.title}\n{one.text}" for one in DOCUMENTS]))
    engine.flush()
    engine.close()
    edit(folder, files={})
    expected = [f"passage {name!r} is not found by its own vector" for name in ("d1", "d2")]
    assert verify_index(folder, DOCUMENTS) == expected


def test_a_model_that_drifted_is_noticed(built: Path) -> None:
    problems = verify_index(built, DOCUMENTS, embedder=Drifted())
    assert len(problems) == 4
    assert "'d1' is embedded otherwise now" in problems[0]


def test_an_engine_that_is_not_installed_is_a_problem(folder: Path) -> None:
    identity = read_manifest(folder).identity.model_copy(update={"engine": "other"})
    edit(folder, identity=identity.model_dump())
    assert verify_index(folder, DOCUMENTS) == ["no engine 'other' is installed that could read it"]


def test_a_thorough_look_mends_what_a_quick_one_trusts(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    ensure_index(DOCUMENTS, embedder, tmp_path).close()
    folder = index_folder(tmp_path, DOCUMENTS, embedder)
    (vectors,) = folder.glob("**/vector_storage-dense/vectors/chunk_0.mmap")
    with vectors.open("r+b") as file:
        file.write(b"\x01")
    ensure_index(DOCUMENTS, embedder, tmp_path).close()
    assert verify_index(folder, DOCUMENTS)
    ensure_index(DOCUMENTS, embedder, tmp_path, thorough=True).close()
    assert verify_index(folder, DOCUMENTS, embedder=embedder) == []


def test_info_is_the_manifest_and_the_room_taken(built: Path, tmp_path: Path) -> None:
    info = index_info(built)
    assert (info.folder, info.manifest) == (built, read_manifest(built))
    assert info.disk_bytes > 0
    with pytest.raises(IndexMismatchError, match="no index in"):
        index_info(tmp_path)


def test_whole_indexes_are_listed(tmp_path: Path) -> None:
    build_index(DOCUMENTS, LetterEmbedder(), tmp_path / "whole")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / MANIFEST).write_text("{")
    work_folder(tmp_path / "stopped").mkdir()  # as a killed build does
    assert [info.folder.name for info in list_indexes(tmp_path)] == ["whole"]


def test_doubles_do_not_hide_each_other(tmp_path: Path) -> None:
    documents = [Document(f"d{number:02}", "", "the same words") for number in range(40)]
    build_index(documents, LetterEmbedder(), tmp_path / "index")
    assert verify_index(tmp_path / "index", documents, embedder=LetterEmbedder()) == []


def test_opening_an_index_with_token_vectors_does_not_damage_it(tmp_path: Path) -> None:
    """The engine writes its JSON anew at every opening, and the keys of its vectors come in any order."""
    build_index(DOCUMENTS, ByToken(), tmp_path / "index")
    for _ in range(6):
        open_index(tmp_path / "index", DOCUMENTS, ByToken()).close()
        assert verify_index(tmp_path / "index", DOCUMENTS) == []


def test_json_that_says_something_else_is_damage(folder: Path) -> None:
    config = folder / SHARD / "edge_config.json"
    config.write_text(config.read_text().replace('"size":27', '"size":28'))
    assert "edge_config.json' is damaged" in verify_index(folder, DOCUMENTS)[0]
