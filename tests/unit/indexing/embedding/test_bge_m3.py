"""The code path of bge-m3 on a tiny random model of its layout, through FlagEmbedding itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.embedder import Encoded
from indexing.embedding.opening import open_embedder
from tests.passes import watched_passes
from tests.tiny_models import MAX_LENGTH, WIDTH, build_tiny_bge_m3

TEXTS = [
    "a ship and another ship",
    "the river rises near the hill town",
    "",
    "who governs the town",
    "s h i p",
    "the school lies on the estuary " * 10,
    "ship",
]
CPU = ("cpu",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_bge_m3(tmp_path_factory.mktemp("weights") / "tiny-bge-m3")


def load(folder: Path, **settings: Any) -> BgeM3Encoder:
    return BgeM3Encoder(folder, EmbeddingConfig(**({"devices": CPU} | settings)))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> BgeM3Encoder:
    return load(folder)


def tokenizer_of(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def same(one: Encoded, other: Encoded) -> None:
    np.testing.assert_allclose(one.dense, other.dense, atol=1e-5)
    assert one.lexical is not None
    assert other.lexical is not None
    for mine, theirs in zip(one.lexical, other.lexical, strict=True):
        assert mine.indices == theirs.indices
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-5)


def test_one_pass_gives_all_lanes(folder: Path) -> None:
    encoder = load(folder, multivectors=True, batch_size=3)
    with watched_passes() as passes:
        encoded = encoder.passages(TEXTS)
    assert [one.texts for one in passes] == [3, 3, 1]
    assert [one.tokens for one in passes] == sorted((one.tokens for one in passes), reverse=True)
    assert encoded.dense.shape == (len(TEXTS), WIDTH)
    assert encoded.lexical is not None
    assert encoded.multi is not None
    assert len(encoded.lexical) == len(encoded.multi) == len(TEXTS)


def test_a_query_is_one_pass(encoder: BgeM3Encoder) -> None:
    with watched_passes() as passes:
        timed = encoder.queries(TEXTS[:2])
    assert [one.texts for one in passes] == [1, 1]
    assert all(seconds > 0 for seconds in timed.seconds)
    assert timed.known == (False, False)


def test_vectors_are_those_of_flag_embedding(encoder: BgeM3Encoder, folder: Path) -> None:
    from FlagEmbedding import BGEM3FlagModel

    model = BGEM3FlagModel(str(folder), devices="cpu", use_fp16=False)
    theirs = model.encode(TEXTS, return_sparse=True, max_length=MAX_LENGTH)
    ours = encoder.passages(TEXTS)
    np.testing.assert_allclose(ours.dense, theirs["dense_vecs"], atol=1e-5)
    assert ours.lexical is not None
    for vector, weights in zip(ours.lexical, theirs["lexical_weights"], strict=True):
        assert list(vector.indices) == sorted(int(token) for token in weights)
        np.testing.assert_allclose(vector.values, [weights[str(token)] for token in vector.indices], atol=1e-5)


def test_terms_are_the_tokens_of_the_text_without_the_special_ones(encoder: BgeM3Encoder, folder: Path) -> None:
    tokenizer = tokenizer_of(folder)
    text = "the ship <mask> lies on the river </s> <unk> \u4e16"
    (vector,) = encoder.passages([text]).lexical or ()
    assert vector.indices
    assert set(vector.indices) <= set(tokenizer(text)["input_ids"]) - set(tokenizer.all_special_ids)
    assert set(tokenizer.all_special_ids) & set(tokenizer(text)["input_ids"])
    assert len(set(vector.indices)) == len(vector.indices)
    assert all(value > 0 for value in vector.values)


def test_an_empty_text_has_a_vector_and_no_terms(encoder: BgeM3Encoder) -> None:
    encoded = encoder.passages([""])
    np.testing.assert_allclose(np.linalg.norm(encoded.dense, axis=1), 1, atol=1e-6)
    assert encoded.lexical is not None
    assert encoded.lexical[0].indices == ()


@pytest.mark.parametrize("settings", [{"batch_size": 1}, {"batch_size": 2}, {"devices": ("cpu", "cpu")}])
def test_neither_batches_nor_devices_change_a_vector(
    encoder: BgeM3Encoder, folder: Path, settings: dict[str, Any]
) -> None:
    same(load(folder, **settings).passages(TEXTS), encoder.passages(TEXTS))


def test_a_batch_changes_no_bit_of_a_query(encoder: BgeM3Encoder) -> None:
    together = encoder.queries(TEXTS).encoded
    for row, text in enumerate(TEXTS):
        alone = encoder.queries([text]).encoded
        assert np.array_equal(alone.dense[0], together.dense[row])
        assert alone.lexical is not None
        assert together.lexical is not None
        assert alone.lexical[0] == together.lexical[row]


def test_token_vectors_come_for_every_token_but_the_first(folder: Path, encoder: BgeM3Encoder) -> None:
    encoded = load(folder, multivectors=True).passages(TEXTS)
    lengths = [len(ids) for ids in tokenizer_of(folder)(TEXTS, truncation=True)["input_ids"]]
    assert encoded.multi is not None
    assert [matrix.shape for matrix in encoded.multi] == [(length - 1, WIDTH) for length in lengths]
    for matrix in encoded.multi:
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    same(encoded, encoder.passages(TEXTS))


def test_nothing_to_embed(encoder: BgeM3Encoder) -> None:
    assert encoder.passages([]).dense.shape == (0, WIDTH)
    assert encoder.queries([]).seconds == ()
    assert encoder.count_truncated([]) == 0


def test_long_texts_are_cut_and_counted(folder: Path, encoder: BgeM3Encoder) -> None:
    tokenizer = tokenizer_of(folder)
    texts = [" ".join("x" * letters) + end for letters in range(40) for end in ("", " ")]
    lengths = [len(ids) for ids in tokenizer(texts, truncation=False, verbose=False)["input_ids"]]
    assert {MAX_LENGTH, MAX_LENGTH + 1} <= set(lengths)
    assert encoder.count_truncated(texts) == sum(length > MAX_LENGTH for length in lengths)
    short = load(folder, max_length=8)
    assert short.count_truncated(texts) == sum(length > 8 for length in lengths)
    assert np.array_equal(*short.queries(["x " * 9, "x " * 12]).encoded.dense)


def test_more_than_the_model_reads_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=f"max_length {MAX_LENGTH + 1} is more than the {MAX_LENGTH} tokens"):
        load(folder, max_length=MAX_LENGTH + 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_run_recorded_and_normalised(folder: Path, encoder: BgeM3Encoder, dtype: str) -> None:
    half = load(folder, dtype=dtype)
    with watched_passes() as passes:
        dense = half.passages(TEXTS).dense
    assert {one.dtypes for one in passes} == {frozenset({dtype})}
    assert not np.array_equal(dense, encoder.passages(TEXTS).dense)
    assert dense.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(dense, encoder.passages(TEXTS).dense, atol=0.02)
    assert (half.identity["dtype"], half.identity["device"]) == (dtype, "cpu")
    assert encoder.identity["dtype"] == "float32"
    assert "device" not in encoder.identity


def test_a_numbered_cpu_is_a_cpu(folder: Path, encoder: BgeM3Encoder) -> None:
    numbered = load(folder, devices=("cpu:0",))
    assert numbered.identity == encoder.identity
    assert numbered.batch_texts == encoder.batch_texts
    assert "threads" in numbered.provenance


def test_instructions_go_before_their_kind_of_text(folder: Path, encoder: BgeM3Encoder) -> None:
    told = load(folder, query_instruction="who ", passage_instruction="the ")
    assert np.array_equal(told.queries(["ship"]).encoded.dense, encoder.queries(["who ship"]).encoded.dense)
    assert np.array_equal(told.passages(["ship"]).dense, encoder.passages(["the ship"]).dense)
    changed = {key for key, value in told.identity.items() if encoder.identity[key] != value}
    assert changed == {"query_instruction", "passage_instruction"}


def test_a_model_that_yields_no_numbers_is_refused(tmp_path: Path) -> None:
    import torch

    folder = build_tiny_bge_m3(tmp_path / "broken")
    head = torch.load(folder / "sparse_linear.pt")
    torch.save({"weight": head["weight"] * torch.nan, "bias": head["bias"]}, folder / "sparse_linear.pt")
    load(folder).passages([""])  # no term, no weight
    with pytest.raises(WeightsError, match="not finite in float32 for 'a ship'"):
        load(folder).passages(["", "a ship"])


@pytest.mark.parametrize("lost", ["model.safetensors", "sparse_linear.pt", "config.json"])
def test_an_incomplete_folder_is_refused(tmp_path: Path, lost: str) -> None:
    folder = build_tiny_bge_m3(tmp_path / "incomplete")
    (folder / lost).unlink()
    with pytest.raises(WeightsError, match="arena models fetch"):
        load(folder)


@pytest.mark.parametrize("cut", ["model.safetensors", "sparse_linear.pt", "colbert_linear.pt"])
@pytest.mark.parametrize("left", [0, 100])
def test_weights_that_were_cut_off_are_refused(tmp_path: Path, cut: str, left: int) -> None:
    file = build_tiny_bge_m3(tmp_path / "cut") / cut
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(WeightsError, match="no loadable bge-m3"):
        load(file.parent)


def test_a_device_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match="on device 'cuda:99'"):
        load(folder, devices=("cuda:99",))


def test_a_folder_with_its_heads_is_run_as_bge_m3(folder: Path, tmp_path: Path, encoder: BgeM3Encoder) -> None:
    embedder = open_embedder(EmbeddingConfig(model=str(folder), devices=CPU), tmp_path)
    assert embedder.identity == {**encoder.identity, "sparse": "lexical weights of the model"}
    assert not embedder.sparse_idf
    embedded = embedder.embed_queries(["a ship"])
    assert embedded.sparse == encoder.queries(["a ship"]).encoded.lexical
    assert embedder.fitted(TEXTS).embed_passages(["a ship"]).sparse[0].indices == embedded.sparse[0].indices


def test_nothing_is_printed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(folder, devices=("cpu", "cpu"), batch_size=1).passages(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_loading_asks_no_network(folder: Path) -> None:
    asked: list[str] = []
    listening = True

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
            asked.append(event)

    sys.addaudithook(listen)  # sees calls that a library makes and whose failure it swallows
    load(folder).queries(["a ship"])
    listening = False
    assert asked == []
