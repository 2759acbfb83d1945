from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.errors import ConfigError, WeightsError
from indexing.routing.opening import (
    CALLED,
    NAME,
    RouterFile,
    open_router,
    query_identity,
    read_router_file,
    router_text,
    weights_sha256,
)
from indexing.routing.routers import LightWeights, T5Router
from tests.letter_embedder import LetterEmbedder
from tests.tiny_t5 import t5_router_folder

WIDTH = LetterEmbedder.dimension


class Retrained(LetterEmbedder):
    identity: Mapping[str, str | int] = {"model": "letters", "weights_sha256": "another"}


def light_folder(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    LightWeights(np.ones((3, WIDTH + 1)), np.zeros(3), np.array([2.0, 0.5])).save(folder)
    described = {
        "kind": "light",
        "called": CALLED["light"],
        "labels": ("A", "B", "C"),
        "reader": "fake:",
        "embedder": query_identity({**LetterEmbedder.identity, "sparse": "bm25"}),
        "weights_sha256": weights_sha256(folder, "light"),
    }
    (folder / NAME).write_text(router_text(RouterFile.model_validate(described | changes)))
    return folder


def test_a_light_router_is_opened_over_the_runs_own_embedder(tmp_path: Path) -> None:
    router = open_router(light_folder(tmp_path / "r"), LetterEmbedder())
    assert router.probabilities("who?") == pytest.approx(dict.fromkeys("ABC", 1 / 3))
    assert router.identity["router"] == "embedding + logistic regression"
    assert router.identity["reader"] == "fake:"
    assert len(str(router.identity["weights_sha256"])) == 64


def test_another_embedder_is_refused(tmp_path: Path) -> None:
    folder = light_folder(tmp_path / "r")
    with pytest.raises(ConfigError, match=r"reads the vectors of 'letters'.*weights_sha256: None -> 'another'"):
        open_router(folder, Retrained())


def test_the_sparse_lane_and_passages_are_nothing_to_a_question() -> None:
    identity = {"model": "m", "sparse": "bm25", "multivectors": "none", "passage_instruction": "x", "dtype": "float32"}
    assert query_identity(identity) == {"model": "m", "dtype": "float32"}


def test_weights_that_changed_are_refused(tmp_path: Path) -> None:
    folder = light_folder(tmp_path / "r")
    LightWeights(np.zeros((3, WIDTH + 1)), np.zeros(3), np.array([2.0, 0.5])).save(folder)
    with pytest.raises(WeightsError, match="restore the folder, or train it again"):
        open_router(folder, LetterEmbedder())
    (folder / "weights.safetensors").unlink()
    with pytest.raises(WeightsError, match="no weights of a router"):
        open_router(folder, LetterEmbedder())


def test_a_t5_router_is_opened_from_its_folder_and_reads_no_vectors(tmp_path: Path) -> None:
    folder = t5_router_folder(tmp_path / "r")
    router = open_router(folder, Retrained(), devices=("cpu",))
    assert isinstance(router, T5Router)
    assert "T2-local" in str(router.identity["router"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            None,
            r"no trained router in .* \(No such file or directory: router.json\): make one with `arena train-router",
        ),
        ("{", "is no JSON"),
        ("[]", "describes no router"),
        ({"kind": "heavy"}, "describes no router: kind"),
        ({"labels": ["A", "A"]}, "a label is there twice"),
        ({"schema_version": 2}, "schema_version"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_description_that_is_none_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    folder = light_folder(tmp_path / "r")
    known = json.loads((folder / NAME).read_text())
    (folder / NAME).unlink()
    if content is not None:
        (folder / NAME).write_text(content if isinstance(content, str) else json.dumps(known | content))
    with pytest.raises(WeightsError, match=message):
        read_router_file(folder)
