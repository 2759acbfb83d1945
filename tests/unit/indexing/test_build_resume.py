from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.errors import DatasetError, IndexMismatchError, WeightsError
from arena.protocols import Embedding, SparseVector
from arena.types import Document
from indexing.build import ensure_index
from indexing.chunking import TokenWindows
from indexing.engines.ranking import EngineSettings
from indexing.files import work_folder
from indexing.verify import verify_index
from tests.indexes import MiniLMEmbedder, build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS

MANY = [Document(f"d{number:02}", f"Title {number}", "word " * (number % 7 + 1)) for number in range(20)]


class InterruptedBuildError(Exception):
    """Stands for whatever stops a build."""


class Broken(LetterEmbedder):
    """Gives vectors that no engine can use."""

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        embedded = super().embed_passages(texts)
        if self.fault == "nan":
            embedded.dense[-1, 3] = np.nan
        if self.fault == "narrow":
            return Embedding(embedded.dense[:, :-1], embedded.sparse)
        if self.fault == "sparse":
            return Embedding(embedded.dense, (SparseVector((1,), (float("inf"),)), *embedded.sparse[1:]))
        return embedded


def stop_after(batches: int) -> object:
    calls = iter(range(batches - 1))

    def progress(done: int, total: int | None, label: str) -> None:
        if next(calls, None) is None:
            raise InterruptedBuildError

    return progress


def stopped(folder: Path, batches: int, documents: Sequence[Document] = MANY) -> None:
    with pytest.raises(InterruptedBuildError):
        build_index(documents, LetterEmbedder(), folder, slice_size=3, progress=stop_after(batches))  # type: ignore[arg-type]


def test_an_index_built_after_an_interruption_answers_like_one_built_at_once(tmp_path: Path) -> None:
    stopped(tmp_path / "one", 3)
    for name in ("one", "two"):
        build_index(MANY, LetterEmbedder(), tmp_path / name)
    queries = LetterEmbedder().embed_queries(["title", "word 7", ""])
    with (
        open_index(tmp_path / "one", MANY, LetterEmbedder()) as one,
        open_index(tmp_path / "two", MANY, LetterEmbedder()) as two,
    ):
        for index in (one, two):
            assert index.engine.count() == 20
        assert one.engine.dense(queries.dense, 20) == two.engine.dense(queries.dense, 20)
        hybrid = [e.hybrid(queries.dense, queries.sparse, depth=20, rrf_k=60) for e in (one.engine, two.engine)]
        assert hybrid[0] == hybrid[1]


def test_an_old_index_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    build_index(DOCUMENTS, LetterEmbedder(), tmp_path / "index")
    stopped(tmp_path / "index", 2)
    assert verify_index(tmp_path / "index", DOCUMENTS) == []
    build_index(MANY, LetterEmbedder(), tmp_path / "index")
    assert verify_index(tmp_path / "index", MANY) == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("nan", "passage 'd1' is not finite"),
        ("sparse", "passage 'd[1-4]' is not finite"),
        ("narrow", r"\(4, 26\), not \(4, 27\)"),
    ],
)
def test_vectors_no_engine_can_use_are_refused(tmp_path: Path, fault: str, message: str) -> None:
    with pytest.raises(WeightsError, match=message):
        build_index(DOCUMENTS[::-1], Broken(fault), tmp_path / "index")
    assert not (tmp_path / "index").exists()
    assert not work_folder(tmp_path / "index").exists()


def test_half_a_character_is_refused_with_its_document(tmp_path: Path) -> None:
    documents = [*DOCUMENTS, Document("d5", "Fifth", "broken \ud83d text")]
    with pytest.raises(DatasetError, match=r"document 'd5' holds '\\ud83d'"):
        build_index(documents, LetterEmbedder(), tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_empty_documents_are_passages_and_counted(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    documents = [*DOCUMENTS, Document("e1", "", ""), Document("e2", "", " \n"), Document("e3", "Only a title", "")]
    manifest = build_index(documents, embedder, tmp_path / "index")
    assert (manifest.documents, manifest.passages, manifest.empty_passages) == (7, 7, 2)
    assert verify_index(tmp_path / "index", documents, embedder=embedder) == []


def test_chunks_are_indexed_and_part_of_the_identity(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    windows = TokenWindows(5, 2)
    manifest = build_index(DOCUMENTS, embedder, tmp_path / "index", chunking=windows)
    assert manifest.documents == 4
    assert manifest.passages > 8
    with open_index(tmp_path / "index", DOCUMENTS, embedder, chunking=windows) as index:
        assert {passage.doc_id for passage in index.passages} == {"d1", "d2", "d3", "d4"}
        assert index.engine.count() == len(index.passages) == manifest.passages
    assert verify_index(tmp_path / "index", DOCUMENTS, chunking=windows, embedder=embedder) == []
    with pytest.raises(IndexMismatchError) as refused:
        open_index(tmp_path / "index", DOCUMENTS, embedder, chunking=TokenWindows(5, 1))
    assert "chunking.overlap_tokens is 2, wanted 1" in str(refused.value)
    assert "arena index build" in str(refused.value)


def test_a_graph_is_part_of_the_identity_and_its_recall_is_told(tmp_path: Path) -> None:
    graph = EngineSettings("edge", search="hnsw")
    with ensure_index(MANY, LetterEmbedder(), tmp_path, engine=graph) as index:
        assert index.manifest.recall_at_10 == pytest.approx(1.0)
        assert index.manifest.identity.search["search"] == "hnsw"
    with ensure_index(MANY, LetterEmbedder(), tmp_path) as index:
        assert index.manifest.recall_at_10 is None
    assert len(list(tmp_path.glob("index-*"))) == 2


def test_the_server_engine_builds_replaces_and_verifies(tmp_path: Path) -> None:
    server = EngineSettings("server")
    for documents in (DOCUMENTS, MANY):
        build_index(documents, LetterEmbedder(), tmp_path / "index", engine=server)
        with open_index(tmp_path / "index", documents, LetterEmbedder(), engine=server) as index:
            assert index.engine.count() == len(documents)
        assert verify_index(tmp_path / "index", documents, embedder=LetterEmbedder(), engine=server) == []
