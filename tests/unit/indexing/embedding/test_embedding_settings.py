from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, UnknownNameError, WeightsError
from indexing.devices import BATCH_TOKENS, default_batch_size, precision_identity
from indexing.embedding.embedder import LaneEmbedder, embed_queries_timed
from indexing.embedding.opening import NAMED, open_embedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.sources import known_weights
from tests.indexes import MiniLMEmbedder
from tests.letter_embedder import LetterEmbedder
from tests.passes import watched_passes
from tests.tiny_models import MAX_LENGTH, WIDTH, build_tiny_minilm

TEXTS = ["a ship", "the river that rises near the hill town", "", "x y z " * 40, "ship"]


def load(folder: Path, **settings: Any) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(folder, EmbeddingConfig(**({"devices": ("cpu",)} | settings)))


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with prompts in its own configuration, as many retrieval models have."""
    folder = build_tiny_minilm(tmp_path_factory.mktemp("weights") / "prompted")
    prompts = {"query": "query: ", "passage": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder


def test_names_mean_pinned_weights() -> None:
    assert NAMED["minilm"] == NAMED["all-minilm-l6-v2"]
    assert all(known_weights()[name].purpose == "embedding" for name in NAMED.values())


def test_a_folder_without_a_model_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"no model weights in .*`arena models fetch`"):
        open_embedder(EmbeddingConfig(model=str(tmp_path)), tmp_path)


def test_an_unknown_name_offers_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bge-m3'"):
        open_embedder(EmbeddingConfig(model="bge-m4"), tmp_path)


def test_a_folder_that_is_not_there_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no folder"):
        open_embedder(EmbeddingConfig(model=str(tmp_path / "nowhere")), tmp_path)
    with pytest.raises(WeightsError, match=r"no folder '\./nowhere'"):
        open_embedder(EmbeddingConfig(model="./nowhere"), tmp_path)


@pytest.mark.parametrize("model", ["minilm", "bge-m3", "FOLDER"])
def test_a_revision_is_for_the_hub(model: str, tmp_path: Path) -> None:
    settings = EmbeddingConfig(model=str(tmp_path) if model == "FOLDER" else model, revision="main")
    with pytest.raises(ConfigError, match="revision 'main' needs a model of the hub"):
        open_embedder(settings, tmp_path)


def test_the_name_in_an_identity_says_nothing_of_this_machine(tiny_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / tiny_folder.name)
    identities = [
        open_embedder(EmbeddingConfig(model=str(folder), devices=("cpu",)), tmp_path).identity
        for folder in (tiny_folder, copy)
    ]
    assert identities[0] == identities[1]
    assert identities[0]["model"] == tiny_folder.name
    assert str(identities[0]["sparse"]).startswith("bm25 ")


def test_everything_that_changes_a_vector_is_in_the_identity(tiny_folder: Path) -> None:
    base = load(tiny_folder).identity
    changes: list[tuple[dict[str, Any], set[str]]] = [
        ({"max_length": 8}, {"max_length_tokens"}),
        ({"dtype": "bfloat16"}, {"dtype", "device"}),
        ({"query_instruction": "q: "}, {"query_instruction"}),
        ({"passage_instruction": "p: "}, {"passage_instruction"}),
        ({"multivectors": True}, {"multivectors"}),
    ]
    for settings, keys in changes:
        identity = load(tiny_folder, **settings).identity
        assert {name for name, value in identity.items() if base.get(name) != value} == keys
    assert load(tiny_folder, batch_size=7).identity == base
    assert load(tiny_folder, devices=("cpu:0", "cpu")).identity == base


@pytest.mark.parametrize(
    ("dtype", "devices", "expected"),
    [
        ("float32", ("cuda:0",), {"dtype": "float32"}),
        ("float16", ("cuda:1", "cuda:0"), {"dtype": "float16", "device": "cuda"}),
        ("bfloat16", ("cpu:0",), {"dtype": "bfloat16", "device": "cpu"}),
        ("float16", ("mps", "cpu"), {"dtype": "float16", "device": "cpu,mps"}),
    ],
)
def test_half_precision_is_that_of_a_kind_of_device(
    dtype: str, devices: tuple[str, ...], expected: dict[str, str]
) -> None:
    assert precision_identity(dtype, devices) == expected


def test_the_default_batch_fits_the_kind_of_device() -> None:
    assert default_batch_size(["cpu:0"]) == default_batch_size(["cpu"]) < default_batch_size(["cuda:0"])


def test_long_passages_go_in_smaller_batches(tiny_folder: Path, tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    folder = shutil.copytree(tiny_folder, tmp_path / "long")
    config = BertConfig.from_pretrained(folder)
    config.max_position_embeddings = BATCH_TOKENS + 200
    BertModel(config).save_pretrained(folder)
    long, short = "a " * (BATCH_TOKENS + 100), "b"
    for multivectors in (False, True):
        encoder = load(folder, max_length=BATCH_TOKENS + 200, batch_size=2, multivectors=multivectors)
        with watched_passes() as passes:
            encoder.passages([short, long, short, long])
        assert [(one.texts, one.tokens) for one in passes] == [(1, BATCH_TOKENS + 102)] * 2 + [(2, 3)]


def test_a_file_of_settings_changes_the_identity(tiny_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / tiny_folder.name)
    pooling = copy / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True}))
    base, changed = load(tiny_folder).identity, load(copy).identity
    assert {name for name, value in changed.items() if base[name] != value} == {"config_sha256"}


def test_instructions_of_the_model_are_honoured(prompted: Path, tiny_folder: Path) -> None:
    own, bare = load(prompted), load(tiny_folder)
    assert (own.identity["query_instruction"], own.identity["passage_instruction"]) == ("query: ", "passage: ")
    asked = own.queries(["ship"]).encoded.dense
    assert np.array_equal(asked, bare.queries(["query: ship"]).encoded.dense)
    assert np.array_equal(own.passages(["ship"]).dense, bare.passages(["passage: ship"]).dense)


def test_instructions_of_the_user_come_first(prompted: Path, tiny_folder: Path) -> None:
    told, bare = load(prompted, query_instruction="find ", passage_instruction=""), load(tiny_folder)
    assert np.array_equal(told.queries(["ship"]).encoded.dense, bare.queries(["find ship"]).encoded.dense)
    assert np.array_equal(told.passages(["ship"]).dense, bare.passages(["ship"]).dense)


def test_an_instruction_counts_towards_the_length(prompted: Path, tiny_folder: Path) -> None:
    fits = "a " * (MAX_LENGTH - 2)
    assert load(tiny_folder).count_truncated([fits]) == 0
    assert load(prompted).count_truncated([fits]) == 1


def test_several_devices_change_no_vector(tiny_folder: Path) -> None:
    one, several = load(tiny_folder), load(tiny_folder, devices=("cpu",) * 3, batch_size=2)
    np.testing.assert_allclose(one.passages(TEXTS).dense, several.passages(TEXTS).dense, atol=1e-5)
    assert several.provenance["device"] == "cpu,cpu,cpu"
    assert several.batch_texts == LaneEmbedder(several, None).batch_texts == 6


def test_token_vectors_come_from_the_same_model(tiny_folder: Path) -> None:
    encoded = load(tiny_folder, multivectors=True).passages(TEXTS)
    np.testing.assert_allclose(encoded.dense, load(tiny_folder).passages(TEXTS).dense, atol=1e-5)
    assert encoded.multi is not None
    assert [len(matrix) for matrix in encoded.multi] == [7, MAX_LENGTH, 2, MAX_LENGTH, 6]
    for matrix in encoded.multi:
        assert matrix.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_run_and_normalised(tiny_folder: Path, dtype: str) -> None:
    half, single = load(tiny_folder, dtype=dtype), load(tiny_folder)
    with watched_passes() as passes:
        dense = half.passages(TEXTS).dense
        whole = single.passages(TEXTS).dense
    assert [one.dtypes for one in passes] == [frozenset({dtype}), frozenset({"float32"})]
    assert not np.array_equal(dense, whole)
    np.testing.assert_allclose(dense, whole, atol=0.05)
    assert dense.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), 1, atol=1e-6)


def test_a_longer_input_than_the_model_has_positions_for_is_refused(tiny_folder: Path) -> None:
    assert load(tiny_folder, max_length=2 * MAX_LENGTH).identity["max_length_tokens"] == 2 * MAX_LENGTH
    with pytest.raises(ConfigError, match=f"more than the {2 * MAX_LENGTH} tokens"):
        load(tiny_folder, max_length=2 * MAX_LENGTH + 1)


def test_a_model_that_yields_no_numbers_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = build_tiny_minilm(tmp_path / "broken")
    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.word_embeddings.weight"][10:] = np.nan  # the letters, not what frames a text
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match="not finite in float32 for 'a ship'"):
        load(folder).passages(["", "a ship"])


def test_queries_are_timed(embedder: MiniLMEmbedder) -> None:
    timed = embed_queries_timed(embedder, TEXTS)
    assert all(seconds > 0 for seconds in timed.seconds)
    assert timed.known == (False,) * len(TEXTS)
    assert np.array_equal(timed.embedding.dense, embedder.embed_queries(TEXTS).dense)


def test_an_embedder_that_keeps_no_time_shares_it(embedder: MiniLMEmbedder) -> None:
    timed = embed_queries_timed(LetterEmbedder(), ["a", "b"])
    assert timed.seconds[0] == timed.seconds[1] > 0
    assert timed.known == (False, False)
    assert embed_queries_timed(LetterEmbedder(), []).seconds == ()


def test_undecodable_text_is_embedded(embedder: MiniLMEmbedder) -> None:
    asked = embedder.embed_queries(["caf\udce9 ship"])
    assert np.isfinite(asked.dense).all()
    assert embedder.fitted(["caf\udce9"]).embed_passages(["caf\udce9"]).sparse[0].indices
