from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
import pytest

from arena.errors import ConfigError, WeightsError
from arena.types import Passage, RetrievalRequest
from indexing.embedding.embedder import TimedQueries
from indexing.opening import Index
from indexing.rerank.cross_encoders import sigmoid, steady
from indexing.retriever import IndexRetriever
from tests.indexes import MiniLMEmbedder
from tests.unit.indexing.retrieving import QUERIES, LengthReranker, ask, at_once, words


class LogitReranker:
    """A sigmoid over logits: 9 for one passage, and between -14 and -11 for every other."""

    identity: Mapping[str, str | int] = {"model": "logits"}
    default_threshold = None

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        return [[self.of(passage) for passage in row] for row in candidates]

    @staticmethod
    def of(passage: Passage) -> float:
        number = int(passage.doc_id[1:])
        return steady(sigmoid(9.0 if number == 30 else -14 + 3 * (number * 37 % 60) / 60))


class SlowOnPassages(LengthReranker):
    """Says that all its time went into passages, in its first call."""

    passage_seconds = 0.0

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        if not self.asked:
            self.passage_seconds += 1e9
        return super().score(queries, candidates)


class OneAtATime:
    """A model that embedder and reranker share: notes whether two calls ever met in it."""

    def __init__(self) -> None:
        self.inside = 0
        self.met = False

    def run(self) -> None:
        self.inside += 1
        time.sleep(0.005)
        self.met = self.met or self.inside > 1
        self.inside -= 1


class SharingEmbedder(MiniLMEmbedder):
    model: OneAtATime

    def embed_queries_timed(self, texts: Sequence[str]) -> TimedQueries:
        self.model.run()
        return super().embed_queries_timed(texts)


class SharingReranker(LengthReranker):
    model: OneAtATime

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        self.model.run()
        return super().score(queries, candidates)


def test_reranking_orders_the_hybrid_candidates(index: Index, embedder: MiniLMEmbedder) -> None:
    reranker = LengthReranker()
    retriever = IndexRetriever(index, embedder, reranker)
    candidates = ask(retriever, "ship of the guild", k=20, depth=20)
    reranked = ask(retriever, "ship of the guild", "hybrid_rerank", k=5, depth=20)
    ordered = sorted(
        (retriever.passage(hit.passage_id) for hit in candidates.hits), key=lambda p: (-words(p), p.passage_id)
    )
    assert [hit.passage_id for hit in reranked.hits] == [passage.passage_id for passage in ordered[:5]]
    assert list(reranked.beyond) == [passage.passage_id for passage in ordered[5:]]
    assert reranker.asked == [[20]]
    before = {hit.passage_id: hit.lanes for hit in candidates.hits}
    for hit in reranked.hits:
        assert hit.lanes == {**before[hit.passage_id], "rerank": hit.lanes["rerank"]}
        assert (hit.lanes["rerank"].rank, hit.lanes["rerank"].score) == (hit.rank, hit.score)
        assert hit.score == words(retriever.passage(hit.passage_id))
    assert reranked.seconds.rerank > 0
    assert candidates.seconds.rerank == 0


def test_the_unlikely_are_ranked_by_score_and_not_by_id(index: Index, embedder: MiniLMEmbedder) -> None:
    retriever = IndexRetriever(index, embedder, LogitReranker())
    hits = ask(retriever, "ship of the guild", "hybrid_rerank", k=60).hits
    scores = [LogitReranker.of(retriever.passage(hit.passage_id)) for hit in hits]
    assert [hit.score for hit in hits] == scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 60
    cut = scores[20]
    some = ask(retriever, "ship of the guild", "hybrid_rerank", k=60, threshold=cut)
    assert (len(some.hits), len(some.dropped)) == (21, 39)


def test_passages_are_not_charged_to_the_query_that_came_first(index: Index, embedder: MiniLMEmbedder) -> None:
    retriever = IndexRetriever(index, embedder, SlowOnPassages())
    assert ask(retriever, "a river", "hybrid_rerank").seconds.rerank == 0.0


def test_embedder_and_reranker_may_share_a_model(index: Index, tiny_folder: Path) -> None:
    embedder, reranker = SharingEmbedder(tiny_folder, device="cpu"), SharingReranker()
    embedder.model = reranker.model = OneAtATime()
    retriever = IndexRetriever(index, embedder, reranker)
    requests = [RetrievalRequest(query, "hybrid_rerank", 3, depth=5) for query in QUERIES[:24]]
    at_once([partial(retriever.retrieve, request) for request in requests], 8)
    assert len(reranker.asked) == 24
    assert not reranker.model.met


def test_a_threshold_drops_what_scores_below_it(retriever: IndexRetriever) -> None:
    whole = ask(retriever, "a river", "hybrid_rerank", k=20, depth=20)
    cut = whole.hits[9].score
    kept = [hit for hit in whole.hits if hit.score >= cut]
    some = ask(retriever, "a river", "hybrid_rerank", k=5, depth=20, threshold=cut)
    assert some.hits == whole.hits[:5]
    assert some.beyond == tuple(hit.passage_id for hit in kept[5:])
    assert some.dropped == whole.hits[len(kept) :]
    assert [hit.rank for hit in some.dropped] == list(range(len(kept) + 1, 21))


def test_an_emptied_context_is_a_result(retriever: IndexRetriever) -> None:
    empty = ask(retriever, "a river", "hybrid_rerank", k=5, depth=10, threshold=1000.0)
    assert (empty.hits, empty.beyond, len(empty.dropped)) == ((), (), 10)


def test_a_threshold_belongs_to_its_reranker(index: Index, embedder: MiniLMEmbedder) -> None:
    strict = IndexRetriever(index, embedder, LengthReranker(default_threshold=1000.0))
    assert ask(strict, "a river", "hybrid_rerank").hits == ()
    assert len(ask(strict, "a river", "hybrid_rerank", threshold=0.0).hits) == 5
    assert len(ask(strict, "a river", "hybrid").hits) == 5


def test_a_reranker_is_asked_for_many_queries_at_once(index: Index, embedder: MiniLMEmbedder) -> None:
    reranker = LengthReranker()
    requests = [RetrievalRequest(query, "hybrid_rerank", 3, depth=7) for query in QUERIES[:9]]
    retrievals = anyio.run(IndexRetriever(index, embedder, reranker).retrieve_many, requests)
    assert reranker.asked == [[7] * 9]
    assert len({retrieval.seconds.rerank for retrieval in retrievals}) == 1


def test_reranking_needs_a_reranker_and_says_how_to_set_one(index: Index, embedder: MiniLMEmbedder) -> None:
    with pytest.raises(ConfigError, match=r"'hybrid_rerank' needs a reranker and none is set: .*rerank\.model"):
        ask(IndexRetriever(index, embedder), "a river", "hybrid_rerank")


def test_a_broken_reranker_is_named(index: Index, embedder: MiniLMEmbedder) -> None:
    broken = IndexRetriever(index, embedder, LengthReranker(factor=math.nan))
    with pytest.raises(WeightsError, match=r"'length'.*not finite"):
        ask(broken, "a river", "hybrid_rerank")
