from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from arena.errors import ConfigError, StrategyError, UnknownNameError, WeightsError
from arena.protocols import Embedding
from arena.types import Document, RetrievalRequest
from indexing.embedding.embedder import TimedQueries
from indexing.modes import MODES
from indexing.opening import Index
from indexing.retriever import IndexRetriever
from tests.brute_force import cosines, hybrid, ranked
from tests.indexes import MiniLMEmbedder, build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.random_points import SETTINGS
from tests.unit.indexing.retrieving import QUERIES, LengthReranker, ask, at_once


class Counting(MiniLMEmbedder):
    """Remembers what it was asked to embed."""

    asked: list[str]

    def embed_queries_timed(self, texts: Sequence[str]) -> TimedQueries:
        self.asked.extend(texts)
        return super().embed_queries_timed(texts)


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
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
    batch = anyio.run(IndexRetriever(index, embedder, LengthReranker()).retrieve_many, requests)
    assert [retrieval.request for retrieval in batch] == requests
    for concurrency in (1, 8):
        retriever = IndexRetriever(index, embedder, LengthReranker())
        calls = [lambda request=request, retriever=retriever: retriever.retrieve(request) for request in requests]
        assert [retrieval.hits for retrieval in at_once(calls, concurrency)] == [retrieval.hits for retrieval in batch]


def test_a_text_is_embedded_once_and_costs_nothing_after(index: Index, tiny_folder: Path) -> None:
    counting = Counting(tiny_folder, device="cpu")
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


class Remembering(MiniLMEmbedder):
    """Knows every text from an earlier run, in which it took two seconds."""

    def embed_queries_timed(self, texts: Sequence[str]) -> TimedQueries:
        return TimedQueries(super().embed_queries_timed(texts).embedding, (2.0,) * len(texts), (True,) * len(texts))


def test_what_an_embedder_knows_costs_nothing_now(index: Index, tiny_folder: Path) -> None:
    seconds = ask(IndexRetriever(index, Remembering(tiny_folder, device="cpu")), "a river").seconds
    assert (seconds.embed, seconds.known_embed) == (0.0, 2.0)


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
        (RetrievalRequest("a river", "hybrid_rerank", 5, depth=-1), "depth"),
    ],
)
def test_numbers_out_of_range_are_refused(retriever: IndexRetriever, request_: RetrievalRequest, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, not {getattr(request_, name)}"):
        anyio.run(retriever.retrieve, request_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lane_weights": (1.0, 0.0)}, r"two numbers above 0, dense and sparse, not \(1.0, 0.0\)"),
        ({"lane_weights": (1.0,)}, "two numbers above 0"),
        ({"lane_weights": (math.nan, 1.0)}, "two numbers above 0"),
        ({"lane_weights": (1.0, math.inf)}, "two numbers above 0"),
        ({"lane_weights": (1.0, 2.0), "fusion": "dbsf"}, "lane_weights has no meaning in fusion 'dbsf'"),
        ({"threshold": math.nan}, "threshold must be a finite number, not nan"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    retriever: IndexRetriever, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        ask(retriever, "a river", **settings)


def test_an_unknown_fusion_offers_the_nearest(retriever: IndexRetriever) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'dbsf'"):
        ask(retriever, "a river", fusion="dbfs")


def test_weights_and_distributions_change_the_fusion(retriever: IndexRetriever) -> None:
    plain = ask(retriever, "ship of the guild", k=20)
    for settings in ({"lane_weights": (0.1, 5.0)}, {"fusion": "dbsf"}):
        other = ask(retriever, "ship of the guild", k=20, **settings)
        assert [hit.passage_id for hit in other.hits] != [hit.passage_id for hit in plain.hits]
    same = ask(retriever, "ship of the guild", k=20, fusion="rrf", lane_weights=(1.0, 1.0), rrf_k=60, depth=50)
    assert same.hits == plain.hits


def test_beyond_is_what_was_fused_after_the_first_k(retriever: IndexRetriever) -> None:
    first, all_at_once = (ask(retriever, "ship of the guild", k=k, depth=20) for k in (5, 20))
    fused = [*(hit.passage_id for hit in all_at_once.hits), *all_at_once.beyond]
    assert [*(hit.passage_id for hit in first.hits), *first.beyond] == fused
    assert 20 < len(fused) <= 40
    assert first.dropped == ()


class Stumbling(LetterEmbedder):
    """An embedder of one's own that gives no finite numbers for one word of a query."""

    def __init__(self, number: float) -> None:
        self.number = number

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        embedding = self.embed_passages(texts)
        embedding.dense[["ship" in text for text in texts]] = self.number
        return embedding


@pytest.mark.parametrize("engine", sorted(SETTINGS))
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_query_without_numbers_is_named(
    documents: list[Document], tmp_path: Path, engine: str, number: float
) -> None:
    embedder = Stumbling(number)
    build_index(documents, embedder, tmp_path / "index", engine=SETTINGS[engine])
    with open_index(tmp_path / "index", documents, embedder, engine=SETTINGS[engine]) as index:
        retriever = IndexRetriever(index, embedder)
        for mode in ("dense", "hybrid"):
            with pytest.raises(WeightsError, match=r"'letters' yields numbers that are not finite .* for 'a ship'"):
                ask(retriever, "a ship", mode)
            assert len(ask(retriever, "a bridge", mode).hits) == 5


def test_an_unknown_mode_offers_the_nearest(retriever: IndexRetriever) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hybrid'"):
        ask(retriever, "a river", "hybrids")


def test_passages_behind_hits(retriever: IndexRetriever, documents: list[Document]) -> None:
    hit = ask(retriever, "a river").hits[0]
    assert retriever.passage(hit.passage_id).text == documents[int(hit.doc_id[1:])].text
    with pytest.raises(StrategyError, match="'d99'"):
        retriever.passage("d99")
