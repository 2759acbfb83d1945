"""Pooling, length, distance and prefixes of models whose folder does not say them, or whose papers say otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from arena.protocols import Embedding, SparseVector
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.embedder import PRESETS, with_preset
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import EngineSettings
from tests.tiny_models import build_tiny_bge_m3, build_tiny_minilm

TEXTS = ["a ship", "the river that rises near the hill town", "ship"]


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of sentence-transformers, which lists its modules: mean pooling, unit vectors."""
    return build_tiny_minilm(tmp_path_factory.mktemp("listed") / "model")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same weights as transformers alone keeps them."""
    folder = build_tiny_minilm(tmp_path_factory.mktemp("plain") / "contriever-msmarco")
    for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
        (folder / name).unlink(missing_ok=True)
    return folder


def encoded(folder: Path, **settings: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    chosen = EmbeddingConfig(devices=("cpu",), max_length=32, **settings)
    return SentenceTransformerEncoder(folder, chosen, name="model").passages(TEXTS).dense


def test_a_plain_folder_is_pooled_by_the_mean_of_its_tokens(listed: Path, plain: Path) -> None:
    assert encoded(plain) == pytest.approx(encoded(listed), abs=1e-6)


def test_pooling_by_the_first_token_is_another_vector_in_both_layouts(listed: Path, plain: Path) -> None:
    first = encoded(plain, pooling="cls")
    assert np.abs(first - encoded(plain)).max() > 1e-3
    assert encoded(listed, pooling="cls") == pytest.approx(first, abs=1e-6)


def test_vectors_keep_their_length_where_they_are_not_normalised(listed: Path, plain: Path) -> None:
    for folder in (listed, plain):
        raw = encoded(folder, normalize=False)
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        assert np.abs(lengths - 1).max() > 1e-2
        assert raw / lengths == pytest.approx(encoded(folder), abs=1e-6)


def test_what_was_set_is_in_the_identity_and_nothing_else(listed: Path) -> None:
    def identity(**settings: Any) -> dict[str, Any]:
        return dict(SentenceTransformerEncoder(listed, EmbeddingConfig(devices=("cpu",), **settings)).identity)

    usual = identity()
    assert not {"pooling", "normalize", "distance"} & set(usual)
    other = identity(pooling="cls", normalize=False, distance="dot")
    assert other == usual | {"pooling": "cls", "normalize": "no", "distance": "dot"}


def test_a_known_model_is_used_as_its_authors_say_unless_set_otherwise() -> None:
    preset = with_preset(EmbeddingConfig(), "facebook/contriever-msmarco@0123abcd")
    assert (preset.pooling, preset.normalize, preset.distance) == ("mean", False, "dot")
    assert with_preset(EmbeddingConfig(normalize=True), "contriever").normalize is True
    assert with_preset(EmbeddingConfig(), "intfloat/e5-base-v2").query_instruction == "query: "
    assert with_preset(EmbeddingConfig(query_instruction=""), "intfloat/e5-base-v2").query_instruction == ""
    assert with_preset(EmbeddingConfig(), "all-minilm-l6-v2") == EmbeddingConfig()
    assert all(EmbeddingConfig(pooling=one.pooling, distance=one.distance) for one in PRESETS.values())


def test_a_preset_counts_when_the_folder_is_opened(plain: Path) -> None:
    identity = SentenceTransformerEncoder(plain, EmbeddingConfig(devices=("cpu",), max_length=32)).identity
    assert (identity["model"], identity["distance"], identity["normalize"]) == ("contriever-msmarco", "dot", "no")


@pytest.fixture(params=["edge", "server"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    settings = EngineSettings("edge") if request.param == "edge" else EngineSettings("server", path=":memory:")
    made = ENGINES[request.param].create(tmp_path / "shard", 2, distance="dot", settings=settings)
    vectors = np.array([[1, 0], [3, 3], [0, 2]], np.float32)
    made.add([0, 1, 2], Embedding(vectors, (SparseVector((1,), (1.0,)),) * 3))
    made.flush()
    yield made
    made.close()


def test_an_index_by_inner_product_ranks_by_it(engine: Engine) -> None:
    """By cosine the first would win."""
    (ranking,) = engine.dense(np.array([[1, 0]], np.float32), 3)
    assert [(one.position, one.score) for one in ranking.best] == [(1, 3.0), (0, 1.0), (2, 0.0)]
    assert engine.own_score(np.array([3, 3], np.float32)) == 18.0


def test_the_distance_is_known_when_the_shard_is_opened_again(tmp_path: Path) -> None:
    made = ENGINES["edge"].create(tmp_path / "shard", 2, distance="dot", settings=EngineSettings())
    made.add([0], Embedding(np.array([[3, 3]], np.float32), (SparseVector((1,), (1.0,)),)))
    made.flush()
    made.close()
    again = ENGINES["edge"].load(tmp_path / "shard", settings=EngineSettings())
    assert again.own_score(np.array([3, 3], np.float32)) == 18.0
    again.close()


def test_bge_m3_has_its_own(tmp_path: Path) -> None:
    folder = build_tiny_bge_m3(tmp_path / "model")
    with pytest.raises(ConfigError, match="pooling does not fit bge-m3"):
        BgeM3Encoder(folder, EmbeddingConfig(devices=("cpu",), pooling="mean"))


def test_a_folder_that_is_no_model_says_what_it_lacks(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes((plain / "model.safetensors").read_bytes())
    with pytest.raises(WeightsError, match=r"neither modules\.json nor config\.json"):
        encoded(tmp_path)
