"""A retrieval of many hits, cut, against the same index really asked for fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import numpy as np
import pytest

from arena.types import (
    Answer,
    Cell,
    Document,
    Passage,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    RunRecord,
)
from experiments.studies.sweep.run import cut_record, cut_retrieval
from indexing.modes import DEPTH
from indexing.opening import Index
from indexing.retriever import IndexRetriever
from tests.indexes import build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import answered, failed

WORDS = ("river", "ship", "guild", "harbour", "treaty", "album", "tower", "school", "bridge", "mill")
QUERIES = tuple(f"{one} of the {other}" for one in WORDS[:4] for other in WORDS)


class LengthReranker:
    """Scores a passage by the number of its words, so that there are many ties."""

    identity: Mapping[str, str | int] = {"model": "length"}
    default_threshold = None

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        return [[float(len(passage.text.split())) for passage in row] for row in candidates]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """90 documents; every sixth says what another one says, word for word."""
    rng = np.random.default_rng(11)
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(2, 12)))) for _ in range(90)]
    for copy in range(0, 90, 6):
        texts[copy] = texts[copy + 1]
    documents = [Document(f"d{number:02}", "", text) for number, text in enumerate(texts)]
    embedder = LetterEmbedder()
    folder = tmp_path_factory.mktemp("cutting") / "index"
    build_index(documents, embedder, folder)
    with open_index(folder, documents, embedder) as opened:
        yield opened


def timeless(retrieval: Retrieval) -> Retrieval:
    return replace(retrieval, seconds=RetrievalSeconds())


@pytest.mark.parametrize("threshold", [None, 4.0])
@pytest.mark.parametrize("mode", ["dense", "hybrid", "hybrid_rerank"])
def test_a_cut_retrieval_is_the_one_that_was_asked_for_fewer(index: Index, mode: str, threshold: float | None) -> None:
    """Hits with ranks, scores and lanes, what a threshold dropped, and what lies beyond: all but seconds."""
    retriever = IndexRetriever(index, LetterEmbedder(), LengthReranker())
    settings: dict[str, Any] = {} if mode == "dense" else {"depth": DEPTH, "rrf_k": 60}

    def ask(k: int) -> tuple[Retrieval, ...]:
        requests = [RetrievalRequest(query, mode, k, threshold=threshold, **settings) for query in QUERIES]
        return anyio.run(retriever.retrieve_many, requests)

    for most in (20, DEPTH):
        for k in (1, 3, 10, 19):
            for larger, smaller in zip(ask(most), ask(k), strict=True):
                assert timeless(cut_retrieval(larger, k)) == timeless(smaller)


def record(k: int, hits: Retrieval) -> RunRecord:
    of = Cell("retrieval_only", "dense", None, {"k": k})
    shown = tuple(dict.fromkeys(hit.doc_id for hit in hits.hits))
    answer = Answer(None, abstained=False, retrieved_ids=shown, used_ids=shown)
    return RunRecord(of, "q1", "answered", answer, None, (hits,), (), (), wall_seconds=0.25)


def test_a_cut_record_shows_fewer_documents_and_claims_no_latency(index: Index) -> None:
    retriever = IndexRetriever(index, LetterEmbedder())
    four, nine = (anyio.run(retriever.retrieve, RetrievalRequest(QUERIES[0], "dense", k)) for k in (4, 9))
    wanted = record(4, four)
    cut = cut_record(record(9, nine), wanted.cell, 4)
    assert cut is not None
    assert not cut.timed
    assert (cut.wall_seconds, cut.retrievals[0].seconds) == (0.25, nine.seconds)
    assert replace(cut, timed=True, retrievals=(timeless(cut.retrievals[0]),)) == replace(
        wanted, retrievals=(timeless(four),)
    )


def test_pieces_of_one_document_count_once(index: Index) -> None:
    retriever = IndexRetriever(index, LetterEmbedder())
    nine = anyio.run(retriever.retrieve, RetrievalRequest(QUERIES[0], "dense", 9))
    pieces = replace(nine, hits=tuple(replace(hit, doc_id="d1" if hit.rank < 4 else hit.doc_id) for hit in nine.hits))
    cut = cut_record(record(9, pieces), Cell("retrieval_only", "dense", None, {"k": 3}), 3)
    assert cut is not None
    assert cut.answer is not None
    assert cut.answer.used_ids == ("d1",)


def test_what_is_no_single_retrieval_is_not_cut() -> None:
    of = Cell("retrieval_only", "dense", None, {"k": 1})
    assert cut_record(failed("q1"), of, 1) is None
    assert cut_record(answered("q1", "x", ("d1", "d2")), of, 1) is None  # it asked a model
