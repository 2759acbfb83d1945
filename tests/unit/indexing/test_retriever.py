from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import anyio
import numpy as np
import pytest

from arena.errors import ConfigError, StrategyError, UnknownNameError
from arena.protocols import Embedding
from arena.types import Document, Retrieval, RetrievalRequest
from indexing.build import Index, build_index, open_index
from indexing.embedding import MiniLMEmbedder
from indexing.retriever import MODES, IndexRetriever
from tests.brute_force import cosines, hybrid, ranked

T = TypeVar("T")
WORDS = ("river", "ship", "guild", "harbour", "treaty", "album", "tower", "school", "bridge", "mill")
QUERIES = tuple(f"{one} of the {other}" for one in WORDS for other in WORDS)


class Counting(MiniLMEmbedder):
    """Remembers what it was asked to embed."""

    asked: list[str]

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        self.asked.extend(texts)
        return super().embed_queries(texts)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """60 documents; every sixth says what another one says, word for word."""
    rng = np.random.default_rng(11)
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(2, 12)))) for _ in range(60)]
    for copy in range(0, 60, 6):
        texts[copy] = texts[copy + 1]
    return [Document(f"d{number:02}", "", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def index(
    documents: list[Document], embedder: MiniLMEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("retriever") / "index"
    build_index(documents, embedder, folder)
    with open_index(folder, documents, embedder) as opened:
        yield opened


@pytest.fixture
def retriever(index: Index, embedder: MiniLMEmbedder) -> IndexRetriever:
    return IndexRetriever(index, embedder)


def ask(retriever: IndexRetriever, query: str, mode: str = "hybrid", k: int = 5, **settings: int) -> Retrieval:
    return anyio.run(retriever.retrieve, RetrievalRequest(query, mode, k, **settings))


def at_once(calls: Sequence[Callable[[], Awaitable[T]]], concurrency: int) -> list[T]:
    results: dict[int, T] = {}

    async def main() -> None:
        limiter = anyio.CapacityLimiter(concurrency)

        async def one(number: int, call: Callable[[], Awaitable[T]]) -> None:
            async with limiter:
                results[number] = await call()

        async with anyio.create_task_group() as group:
            for number, call in enumerate(calls):
                group.start_soon(one, number, call)

    anyio.run(main)
    return [results[number] for number in range(len(calls))]


@pytest.mark.parametrize("mode", sorted(MODES))
def test_hits_are_what_brute_force_finds(
    retriever: IndexRetriever, index: Index, embedder: MiniLMEmbedder, mode: str
) -> None:
    texts = [passage.text for passage in index.passages]
    points = embedder.fitted(texts).embed_passages(texts)
    for query in QUERIES[::9]:
        asked = embedder.embed_queries([query])
        if mode == "dense":
            expected = ranked(cosines(points.dense, asked.dense[0]), 5)
        else:
            expected = hybrid(points, asked.dense[0], asked.sparse[0], k=5, depth=50, rrf_k=60)
        assert [hit.doc_id for hit in ask(retriever, query, mode).hits] == [f"d{at:02}" for at in expected]


def test_a_hit_says_which_lane_found_it(retriever: IndexRetriever) -> None:
    hits = ask(retriever, "ship of the guild", depth=5, k=5).hits
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    for hit in hits:
        assert hit.lanes
        assert set(hit.lanes) <= {"dense", "sparse"}
        assert hit.score == pytest.approx(sum(1 / (60 + lane.rank - 1) for lane in hit.lanes.values()), rel=1e-6)
    for hit in ask(retriever, "ship of the guild", "dense").hits:
        assert (hit.lanes["dense"].rank, hit.lanes["dense"].score) == (hit.rank, hit.score)


def test_the_same_bits_alone_in_a_batch_and_under_concurrency(index: Index, embedder: MiniLMEmbedder) -> None:
    requests = [RetrievalRequest(query, mode, 5) for query in QUERIES[:40] for mode in sorted(MODES)]
    batch = anyio.run(IndexRetriever(index, embedder).retrieve_many, requests)
    assert [retrieval.request for retrieval in batch] == requests
    for concurrency in (1, 8):
        retriever = IndexRetriever(index, embedder)
        calls = [lambda request=request, retriever=retriever: retriever.retrieve(request) for request in requests]
        assert [retrieval.hits for retrieval in at_once(calls, concurrency)] == [retrieval.hits for retrieval in batch]


def test_a_text_is_embedded_once_and_costs_nothing_after(index: Index, tiny_folder: object) -> None:
    counting = Counting(tiny_folder, device="cpu")  # type: ignore[arg-type]
    counting.asked = []
    retriever = IndexRetriever(index, counting)
    assert ask(retriever, "a river").seconds.embed > 0
    assert ask(retriever, "a river", "dense").seconds.embed == 0
    requests = [RetrievalRequest(query, "hybrid", 3) for query in ("a river", "a mill", "a mill")]
    seconds = [retrieval.seconds.embed for retrieval in anyio.run(retriever.retrieve_many, requests)]
    assert [second > 0 for second in seconds] == [False, True, False]
    calls = [lambda: retriever.retrieve(RetrievalRequest("a tower", "hybrid", 3))] * 8
    assert sum(retrieval.seconds.embed > 0 for retrieval in at_once(calls, 8)) == 1
    assert counting.asked == ["a river", "a mill", "a tower"]


def test_seconds_are_split(retriever: IndexRetriever) -> None:
    seconds = ask(retriever, "a treaty").seconds
    assert seconds.embed > 0
    assert seconds.search > 0
    assert seconds.rerank == 0


def test_more_than_there_is_gives_everything(retriever: IndexRetriever) -> None:
    for mode in MODES:
        hits = ask(retriever, "a river", mode, k=1000).hits
        assert len({hit.passage_id for hit in hits}) == 60


def test_a_query_of_stop_words_has_no_sparse_lane(retriever: IndexRetriever) -> None:
    for query in ("", "of the"):
        hits = ask(retriever, query).hits
        assert len(hits) == 5
        assert all(set(hit.lanes) == {"dense"} for hit in hits)


def test_fusion_settings_reach_the_engine(retriever: IndexRetriever) -> None:
    assert ask(retriever, "a river", rrf_k=1).hits[0].score > ask(retriever, "a river").hits[0].score
    assert all(lane.rank <= 5 for hit in ask(retriever, "river", depth=2).hits for lane in hit.lanes.values())


def test_no_requests(retriever: IndexRetriever) -> None:
    assert anyio.run(retriever.retrieve_many, []) == ()


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (RetrievalRequest("a river", "dense", 0), "k"),
        (RetrievalRequest("a river", "hybrid", -3), "k"),
        (RetrievalRequest("a river", "hybrid", 5, depth=0), "depth"),
        (RetrievalRequest("a river", "hybrid", 5, rrf_k=0), "rrf_k"),
    ],
)
def test_numbers_out_of_range_are_refused(retriever: IndexRetriever, request_: RetrievalRequest, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, not {getattr(request_, name)}"):
        anyio.run(retriever.retrieve, request_)


def test_an_unknown_mode_offers_the_nearest(retriever: IndexRetriever) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hybrid'"):
        ask(retriever, "a river", "hybrids")


def test_passages_behind_hits(retriever: IndexRetriever, documents: list[Document]) -> None:
    hit = ask(retriever, "a river").hits[0]
    assert retriever.passage(hit.passage_id).text == documents[int(hit.doc_id[1:])].text
    with pytest.raises(StrategyError, match="'d99'"):
        retriever.passage("d99")
