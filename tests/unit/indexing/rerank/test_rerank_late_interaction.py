from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.config.settings import EmbeddingConfig, RerankConfig
from arena.errors import ConfigError
from arena.protocols import Vectors
from arena.types import Passage
from indexing.bm25 import Bm25
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.embedder import LaneEmbedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.rerank.late_interaction import (
    EmbedderTokens,
    EncoderTokens,
    LateInteraction,
    StoredLateInteraction,
    maxsim,
)
from indexing.rerank.opening import open_reranker
from tests.indexes import build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS
from tests.tiny_models import build_tiny_bge_m3

QUERIES = ["ship", "the river", "ab", ""]
TEXTS = ["a river near", "old harbour and ships", "glass", "", "the river", "x"]
PASSAGES = [Passage(f"p{at}", f"p{at}", "", text, 0, len(text)) for at, text in enumerate(TEXTS)]
HOW = EmbeddingConfig(devices=("cpu",), multivectors=True)
MATRICES = st.integers(0, 4).flatmap(lambda n: arrays(np.float32, (n, 3), elements=st.floats(-1, 1, width=32)))


class Remembering:
    """Token vectors of single letters; keeps what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    identity: Mapping[str, str | int] = {"model": "letters"}

    def queries(self, texts: Sequence[str]) -> Sequence[Vectors]:
        return [np.eye(26, dtype=np.float32)[[ord(c) - ord("a") for c in text if "a" <= c <= "z"]] for text in texts]

    def passages(self, texts: Sequence[str]) -> Sequence[Vectors]:
        self.asked.extend(texts)
        return self.queries(texts)


@pytest.fixture(scope="module")
def encoder(tiny_folder: Path) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(tiny_folder, HOW)


@pytest.fixture(scope="module")
def bge(tmp_path_factory: pytest.TempPathFactory) -> LaneEmbedder:
    folder = build_tiny_bge_m3(tmp_path_factory.mktemp("weights") / "tiny-bge-m3")
    return LaneEmbedder(BgeM3Encoder(folder, HOW), None)


@given(MATRICES, st.lists(MATRICES, max_size=4))
def test_every_query_token_finds_its_best_match(query: Vectors, passages: list[Vectors]) -> None:
    scores = maxsim(query, passages)
    for passage, score in zip(passages, scores, strict=True):
        if not len(query):
            assert score == 0
        elif not len(passage):
            assert score == -1
        else:
            best = [max(float(np.dot(token, other)) for other in passage) for token in query]
            assert score == pytest.approx(sum(best) / len(best), abs=1e-5)


def test_scores_are_shares_of_letters_found() -> None:
    reranker = LateInteraction(Remembering())
    assert reranker.score(["abcd", "a"], [[PASSAGES[0], PASSAGES[3]], [PASSAGES[5]]]) == [[0.25, -1.0], [0.0]]
    assert reranker.default_threshold is None
    assert reranker.identity["model"] == "late_interaction/letters"


def test_a_text_scores_highest_against_itself(encoder: SentenceTransformerEncoder) -> None:
    (row,) = LateInteraction(EncoderTokens(encoder)).score(["the river"], [PASSAGES])
    assert row[4] == pytest.approx(1, abs=1e-5)
    assert max(row) == row[4]
    assert min(row) == row[3] == -1
    assert all(-1 <= score <= 1 for score in row)


def test_tokens_are_the_models_without_the_framing_ones(encoder: SentenceTransformerEncoder, tiny_folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tiny_folder), device="cpu")
    whole = model.encode(["the river"], output_value="token_embeddings", show_progress_bar=False)[0].numpy()
    expected = whole[1:-1] / np.linalg.norm(whole[1:-1], axis=1, keepdims=True)
    tokens = EncoderTokens(encoder)
    assert len(expected) == len("theriver")
    for found in (tokens.queries(["the river"])[0], tokens.passages(["the river"])[0]):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_batch_changes_no_score(encoder: SentenceTransformerEncoder) -> None:
    together = LateInteraction(EncoderTokens(encoder)).score(QUERIES, [PASSAGES] * len(QUERIES))
    for query, row in zip(QUERIES, together, strict=True):
        for passage, score in zip(PASSAGES, row, strict=True):
            alone = LateInteraction(EncoderTokens(encoder)).score([query], [[passage]])
            assert alone[0][0] == pytest.approx(score, abs=1e-5)


def test_a_passage_is_embedded_once() -> None:
    tokens = Remembering()
    reranker = LateInteraction(tokens)
    reranker.score(["ab", "cd"], [PASSAGES[:3], PASSAGES[1:4]])
    reranker.score(["ef"], [PASSAGES[:4]])
    assert tokens.asked == TEXTS[:4]


def test_seconds_of_passages_are_told_apart() -> None:
    reranker = LateInteraction(Remembering())
    assert reranker.passage_seconds == 0
    reranker.score(["ab"], [PASSAGES])
    first = reranker.passage_seconds
    assert first > 0
    reranker.score(["cd"], [PASSAGES])
    assert reranker.passage_seconds == first


def test_a_small_cache_forgets_and_scores_the_same() -> None:
    tokens = Remembering()
    small = LateInteraction(tokens, cache_bytes=len("glass") * 26 * 4)
    whole = LateInteraction(Remembering()).score(["ab", "river"], [PASSAGES, PASSAGES[::-1]])
    assert small.score(["ab", "river"], [PASSAGES, PASSAGES[::-1]]) == whole
    assert small.score(["ab", "river"], [PASSAGES, PASSAGES[::-1]]) == whole
    assert len(tokens.asked) > len(TEXTS)


def test_nothing_to_score() -> None:
    reranker = LateInteraction(Remembering())
    assert reranker.score([], []) == []
    assert reranker.score(["a"], [[]]) == [[]]


def test_vectors_stored_in_an_index_score_like_fresh_ones(bge: LaneEmbedder, tmp_path: Path) -> None:
    build_index(DOCUMENTS, bge, tmp_path / "index")
    queries = ["who governs the town", "bridge", "glass"]
    with open_index(tmp_path / "index", DOCUMENTS, bge) as index:
        candidates = [index.passages, index.passages[::-1], index.passages[1:2]]
        stored = StoredLateInteraction(index, bge)
        fresh = LateInteraction(EmbedderTokens(bge))
        assert stored.identity == fresh.identity
        for one, other in zip(stored.score(queries, candidates), fresh.score(queries, candidates), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        opened = open_reranker(RerankConfig(), bge, tmp_path, index=index)
        assert isinstance(opened, StoredLateInteraction)
    assert isinstance(open_reranker(RerankConfig(), bge, tmp_path), LateInteraction)


@pytest.mark.parametrize(
    ("name", "value"), [("max_length", 64), ("batch_size", 4), ("dtype", "float16"), ("devices", ("cpu",))]
)
def test_settings_of_no_model_are_refused(bge: LaneEmbedder, tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"rerank setting {name} .* has no effect: .*'tiny-bge-m3'"):
        open_reranker(RerankConfig(**{name: value}), bge, tmp_path)


def test_framing_tokens_make_another_reranker(encoder: SentenceTransformerEncoder, bge: LaneEmbedder) -> None:
    framed = LateInteraction(EmbedderTokens(LaneEmbedder(encoder, Bm25())))
    bare = LateInteraction(EncoderTokens(encoder))
    assert framed.identity["model"] == f"{bare.identity['model']}+framing"
    passages = [passage for passage in PASSAGES if passage.text]
    assert framed.score(["ship"], [passages]) != bare.score(["ship"], [passages])
    assert LateInteraction(EmbedderTokens(bge)).identity["model"] == "late_interaction/tiny-bge-m3"


def test_an_embedder_without_token_vectors_is_refused() -> None:
    with pytest.raises(ConfigError, match="'letters' gives no token vectors"):
        EmbedderTokens(LetterEmbedder())
