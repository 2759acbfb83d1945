from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from arena.types import Document, Hit, Retrieval, RetrievalRequest
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, TokenWindows
from indexing.modes import DEPTH
from indexing.retriever import IndexRetriever
from tests.indexes import MiniLMEmbedder, build_index, open_index

DOCUMENTS = tuple(
    Document(f"d{number:02}", "", f"The {word} of the guild number {number} lies by the river and is old.")
    for number, word in enumerate(["ship", "mill", "tower", "school"] * 20)
)


def retrieve(
    folder: Path, embedder: MiniLMEmbedder, requests: Sequence[RetrievalRequest], chunking: Chunking = WHOLE_DOCUMENTS
) -> tuple[Retrieval, ...]:
    build_index(DOCUMENTS, embedder, folder, chunking=chunking)
    with open_index(folder, DOCUMENTS, embedder, chunking=chunking) as index:
        return anyio.run(IndexRetriever(index, embedder).retrieve_many, requests)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage_id for hit in hits]


def test_dense_names_what_lies_beyond_k_and_its_hits_do_not_depend_on_k(
    embedder: MiniLMEmbedder, tmp_path: Path
) -> None:
    requests = [RetrievalRequest("the mill of the guild", "dense", k) for k in (5, DEPTH, 70)]
    few, many, most = retrieve(tmp_path / "index", embedder, requests)
    assert few.hits == many.hits[:5] == most.hits[:5]
    assert [*ids(few.hits), *few.beyond] == ids(many.hits) == ids(most.hits)[:DEPTH]
    assert (len(few.beyond), many.beyond, most.beyond) == (DEPTH - 5, (), ())
    assert few.dropped == ()


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_hit_knows_its_part_of_the_document(embedder: MiniLMEmbedder, tmp_path: Path, mode: str) -> None:
    request = RetrievalRequest("which guild lies by the river", mode, 20)
    (retrieval,) = retrieve(tmp_path / "index", embedder, [request], TokenWindows(6, 2))
    texts = {document.doc_id: document.text for document in DOCUMENTS}
    for hit in retrieval.hits:
        assert hit.span is not None
        start, end = hit.span
        assert 4 <= len(texts[hit.doc_id][start:end].split()) <= 6
    assert any(hit.span and hit.span[0] > 0 for hit in retrieval.hits)


@pytest.mark.parametrize("chunking", [WHOLE_DOCUMENTS, TokenWindows(100)])
def test_a_hit_that_is_a_whole_document_has_no_span(
    embedder: MiniLMEmbedder, tmp_path: Path, chunking: Chunking
) -> None:
    (retrieval,) = retrieve(tmp_path / "index", embedder, [RetrievalRequest("a mill", "dense", 5)], chunking)
    assert [hit.span for hit in retrieval.hits] == [None] * 5
