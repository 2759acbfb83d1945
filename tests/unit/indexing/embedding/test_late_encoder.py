"""What a model is, is known without opening it; it is opened by the first text whose vector is not kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.embedder import Encoder
from indexing.embedding.opening import LateEncoder, open_embedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from tests.counting_encoder import CountingEncoder
from tests.tiny_models import build_tiny_bge_m3, build_tiny_minilm

QUESTIONS = ("who governs the town", "where does the river rise")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    made = {"minilm": build_tiny_minilm(root / "minilm"), "bge-m3": build_tiny_bge_m3(root / "bge-m3")}
    for name in ("prompted", "plain"):
        shutil.copytree(made["minilm"], root / name)
        made[name] = root / name
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (made["prompted"] / "config_sentence_transformers.json").write_text(json.dumps(prompts), encoding="utf-8")
    (made["plain"] / "modules.json").unlink()
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the models that were opened."""
    names: list[str] = []
    for kind in (BgeM3Encoder, SentenceTransformerEncoder):
        real = kind.__init__

        def init(self: Any, *arguments: Any, real: Callable[..., None] = real, **options: Any) -> None:
            names.append(options["name"])
            real(self, *arguments, **options)

        monkeypatch.setattr(kind, "__init__", init)
    return names


def settings_of(folder: Path, **settings: Any) -> EmbeddingConfig:
    return EmbeddingConfig(model=str(folder), devices=("cpu",), **settings)


@pytest.mark.parametrize("name", ["minilm", "prompted", "plain", "bge-m3"])
def test_a_known_model_is_what_it_was_when_it_was_open(
    folders: dict[str, Path], opened: list[str], tmp_path: Path, name: str
) -> None:
    settings = settings_of(folders[name])
    bare = open_embedder(settings, tmp_path)
    first = open_embedder(settings, tmp_path, cache_root=tmp_path / "cache")
    vectors = first.embed_queries(QUESTIONS)
    texts = ["a ship", "x y z " * 40]
    assert first.count_truncated(texts) == bare.count_truncated(texts) == 1
    del opened[:]
    again = open_embedder(settings, tmp_path, cache_root=tmp_path / "cache", queries=QUESTIONS)
    assert json.dumps(dict(again.identity)) == json.dumps(dict(first.identity)) == json.dumps(dict(bare.identity))
    assert (again.dimension, again.batch_texts, again.sparse_idf) == (bare.dimension, bare.batch_texts, bare.sparse_idf)
    assert dict(again.provenance) == dict(bare.provenance)
    assert np.array_equal(again.embed_queries(QUESTIONS).dense, vectors.dense)
    assert again.count_truncated(texts) == 1
    assert opened == []
    again.embed_queries(["another question"])
    assert opened == [name]


def test_a_question_that_is_not_kept_opens_the_model_before_any_is_asked(
    folders: dict[str, Path], opened: list[str], tmp_path: Path
) -> None:
    settings = settings_of(folders["minilm"])
    open_embedder(settings, tmp_path, cache_root=tmp_path / "cache").embed_queries(QUESTIONS[:1])
    del opened[:]
    open_embedder(settings, tmp_path, cache_root=tmp_path / "cache", queries=QUESTIONS)
    assert opened == ["minilm"]


@pytest.mark.parametrize("changed", [{"max_length": 16}, {"query_instruction": "query: "}, {"normalize": False}])
def test_other_settings_are_another_model(
    folders: dict[str, Path], opened: list[str], tmp_path: Path, changed: dict[str, Any]
) -> None:
    for settings in (settings_of(folders["minilm"]), settings_of(folders["minilm"], **changed)):
        assert open_embedder(settings, tmp_path, cache_root=tmp_path / "cache").identity
    assert opened == ["minilm", "minilm"]


def test_other_files_are_another_model(folders: dict[str, Path], opened: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(folders["minilm"], folder)
    longest = []
    for tokens in (32, 24):
        said = {"max_seq_length": tokens, "do_lower_case": False}
        (folder / "sentence_bert_config.json").write_text(json.dumps(said), encoding="utf-8")
        embedder = open_embedder(settings_of(folder), tmp_path, cache_root=tmp_path / "cache")
        longest.append(embedder.identity["max_length_tokens"])
    assert longest == [32, 24]
    assert opened == ["own", "own"]


def test_what_is_wrong_with_a_folder_is_said_before_anything_is_asked(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(folders["minilm"], folder)
    open_embedder(settings_of(folder), tmp_path, cache_root=tmp_path / "cache")
    (folder / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "own.Model"}}), encoding="utf-8")
    with pytest.raises(WeightsError, match="runs code of its own"):
        open_embedder(settings_of(folder), tmp_path, cache_root=tmp_path / "cache")


def test_a_named_device_is_looked_for_at_once(folders: dict[str, Path], tmp_path: Path) -> None:
    settings = EmbeddingConfig(model=str(folders["minilm"]), devices=("cuda:77",))
    with pytest.raises(ConfigError, match="cuda:77"):
        open_embedder(settings, tmp_path, cache_root=tmp_path / "cache")


@pytest.mark.parametrize("content", ["", "{}", '{"identity": 3}'])
def test_a_damaged_note_opens_the_model_and_is_written_anew(tmp_path: Path, content: str) -> None:
    place = tmp_path / "known.json"
    place.write_text(content, encoding="utf-8")
    assert LateEncoder(CountingEncoder, place).identity["model"] == "counting"
    assert LateEncoder(_never, place).identity["model"] == "counting"


def test_a_model_that_is_another_when_it_opens_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "known.json"
    LateEncoder(CountingEncoder, place)
    late = LateEncoder(lambda: CountingEncoder(model="other"), place)
    with pytest.raises(WeightsError, match=r"'other'.*'counting'"):
        late.queries(["a"])
    assert not place.exists()


def _never() -> Encoder:
    raise AssertionError("opened")
