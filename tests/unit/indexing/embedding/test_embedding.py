from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.errors import WeightsError
from tests.indexes import MiniLMEmbedder
from tests.tiny_models import MAX_LENGTH, WIDTH, build_tiny_minilm

TEXTS = [
    "a ship",
    "the river that rises near the hill town",
    "who governs the town",
    "a",
    "ship",
    "x y z " * 100,
]


def test_vectors_are_float32_of_norm_one(embedder: MiniLMEmbedder) -> None:
    embedded = embedder.fitted(TEXTS).embed_passages(TEXTS)
    assert embedded.dense.dtype == np.float32
    assert embedded.dense.shape == (len(TEXTS), WIDTH) == (len(embedded.sparse), embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(embedded.dense, axis=1), 1, atol=1e-6)


def test_a_batch_changes_no_passage(embedder: MiniLMEmbedder) -> None:
    fitted = embedder.fitted(TEXTS)
    together = fitted.embed_passages(TEXTS)
    for text, dense, sparse in zip(TEXTS, together.dense, together.sparse, strict=True):
        alone = fitted.embed_passages([text])
        np.testing.assert_allclose(alone.dense[0], dense, atol=1e-5)
        assert alone.sparse == (sparse,)


def test_a_batch_changes_no_bit_of_a_query(embedder: MiniLMEmbedder) -> None:
    together = embedder.embed_queries(TEXTS)
    for text, dense in zip(TEXTS, together.dense, strict=True):
        assert np.array_equal(embedder.embed_queries([text]).dense[0], dense)


def test_nothing_to_embed(embedder: MiniLMEmbedder) -> None:
    embedded = embedder.embed_queries([])
    assert embedded.dense.shape == (0, WIDTH)
    assert embedded.sparse == ()
    assert embedder.count_truncated([]) == 0


def test_an_empty_query_has_a_vector_and_no_terms(embedder: MiniLMEmbedder) -> None:
    embedded = embedder.embed_queries([""])
    assert np.isfinite(embedded.dense).all()
    assert embedded.sparse[0].indices == ()


def test_long_texts_are_cut_and_counted(embedder: MiniLMEmbedder) -> None:
    fits = "a " * (MAX_LENGTH - 2)  # a token a letter, and two that frame the text
    assert embedder.count_truncated([fits]) == 0
    assert embedder.count_truncated([fits, fits + "a", "b " * 1000]) == 2
    cut, longer = embedder.embed_queries([fits + "a", fits + "b " * 50]).dense
    assert np.array_equal(cut, longer)


def test_identity_names_what_can_change_a_vector(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    other = MiniLMEmbedder(build_tiny_minilm(tmp_path / "tiny-minilm", seed=1), device="cpu")
    changed = {key for key, value in embedder.identity.items() if other.identity[key] != value}
    assert changed == {"weights_sha256"}
    assert embedder.identity["max_length_tokens"] == MAX_LENGTH
    assert embedder.identity["dtype"] == "float32"


def test_fitting_leaves_the_embedder_and_its_identity_alone(embedder: MiniLMEmbedder) -> None:
    fitted = embedder.fitted(TEXTS)
    assert fitted.identity == embedder.identity
    assert "average_terms" in fitted.provenance
    assert "average_terms" not in embedder.provenance


@pytest.mark.parametrize("lost", ["model.safetensors", "config.json"])
def test_an_incomplete_folder_is_refused(tiny_folder: Path, tmp_path: Path, lost: str) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "incomplete")
    (folder / lost).unlink()
    with pytest.raises(WeightsError, match="arena models fetch"):
        MiniLMEmbedder(folder, device="cpu")


@pytest.mark.parametrize("left", [0, 100, 10_000])
def test_weights_that_were_cut_off_are_refused(tiny_folder: Path, tmp_path: Path, left: int) -> None:
    file = shutil.copytree(tiny_folder, tmp_path / "cut") / "model.safetensors"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(WeightsError, match="no loadable embedding model"):
        MiniLMEmbedder(file.parent, device="cpu")


def test_weights_of_another_shape_are_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "shape")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 2 * WIDTH}))
    with pytest.raises(WeightsError, match="no loadable embedding model"):
        MiniLMEmbedder(folder, device="cpu")


def test_loading_asks_no_network(tiny_folder: Path) -> None:
    asked: list[str] = []
    listening = True

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
            asked.append(event)

    sys.addaudithook(listen)  # sees calls that a library makes and whose failure it swallows
    MiniLMEmbedder(tiny_folder, device="cpu").embed_queries(["a ship"])
    listening = False
    assert asked == []
