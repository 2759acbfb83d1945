"""A folder of weights brings numbers and settings; code and pickles of its own are refused wherever weights open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.config.settings import EmbeddingConfig, RerankConfig
from arena.errors import WeightsError
from indexing.devices import folder_identity
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.rerank.cross_encoders import FlagCrossEncoder, SentenceCrossEncoder
from indexing.rerank.opening import T5Evaluator
from tests.tiny_models import build_tiny_bge_m3, build_tiny_minilm, build_tiny_reranker
from tests.tiny_t5 import build_tiny_t5

CPU = ("cpu",)
Builder = Callable[[Path], Path]
Opener = Callable[[Path], object]
OPENERS: dict[str, tuple[Builder, Opener]] = {
    "sentence-transformers": (
        build_tiny_minilm,
        lambda folder: SentenceTransformerEncoder(folder, EmbeddingConfig(devices=CPU)),
    ),
    "bge-m3": (build_tiny_bge_m3, lambda folder: BgeM3Encoder(folder, EmbeddingConfig(devices=CPU))),
    "cross-encoder": (build_tiny_reranker, lambda folder: SentenceCrossEncoder(folder, RerankConfig(devices=CPU))),
    "flag reranker": (build_tiny_reranker, lambda folder: FlagCrossEncoder(folder, RerankConfig(devices=CPU))),
    "t5 evaluator": (build_tiny_t5, lambda folder: T5Evaluator(folder, RerankConfig(devices=CPU))),
}
SPY = "import pathlib\npathlib.Path({mark!r}).write_text('it ran')\nfrom sentence_transformers.models import Pooling\n"


def pickle_weights(folder: Path) -> None:
    """Add the weights of a folder as a pickle."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")


def spied(folder: Path) -> Path:
    """Code beside the weights that leaves a mark when it runs; returns where the mark would be."""
    mark = folder.parent / "mark"
    code = SPY.format(mark=str(mark)) + "class Own(Pooling):\n    pass\n"
    (folder / "own_module.py").write_text(code)
    return mark


def mapped(folder: Path, name: str, reference: str = "own_module.Own") -> None:
    place = folder / name
    settings = json.loads(place.read_text()) if place.is_file() else {}
    place.write_text(json.dumps({**settings, "auto_map": {"AutoModel": reference, "AutoConfig": reference}}))


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.parametrize("reference", ["own_module.Own", "somebody/else--own_module.Own"])
def test_settings_that_map_to_code_are_refused_before_it_runs(tmp_path: Path, kind: str, reference: str) -> None:
    build, opened = OPENERS[kind]
    folder = build(tmp_path / "model")
    mark = spied(folder)
    mapped(folder, "config.json", reference)
    with pytest.raises(WeightsError, match=r"code of its own: config\.json names .*own_module\.Own.*own_module\.py"):
        opened(folder)
    assert not mark.exists()


def test_a_module_of_the_folders_own_is_refused_before_it_runs(tmp_path: Path) -> None:
    folder = build_tiny_minilm(tmp_path / "model")
    mark = spied(folder)
    modules = json.loads((folder / "modules.json").read_text())
    modules[-1]["type"] = "own_module.Own"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(WeightsError, match=r"modules\.json names 'own_module\.Own', the file own_module\.py"):
        OPENERS["sentence-transformers"][1](folder)
    assert not mark.exists()


def test_code_that_is_trusted_runs_and_is_in_the_identity(tmp_path: Path) -> None:
    folder = build_tiny_minilm(tmp_path / "model")
    without = folder_identity(folder)
    mark = spied(folder)
    modules = json.loads((folder / "modules.json").read_text())
    modules[-1]["type"] = "own_module.Own"
    (folder / "modules.json").write_text(json.dumps(modules))
    trusting = EmbeddingConfig(devices=CPU, trust_remote_code=True)
    encoder = SentenceTransformerEncoder(folder, trusting)
    assert mark.exists()
    sha256 = encoder.identity["code_sha256"]
    assert "code_sha256" not in without
    (folder / "own_module.py").write_text((folder / "own_module.py").read_text() + "# changed\n")
    assert folder_identity(folder, trust_remote_code=True)["code_sha256"] != sha256


@pytest.mark.parametrize("setting", ["activation_fn", "activation_function"])
def test_an_activation_from_elsewhere_is_refused(tmp_path: Path, setting: str) -> None:
    folder = build_tiny_reranker(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "sentence_transformers": {setting: "own_module.Own"}}))
    with pytest.raises(WeightsError, match=r"own_module\.Own"):
        OPENERS["cross-encoder"][1](folder)
    (folder / "config.json").write_text(
        json.dumps({**config, "sentence_transformers": {setting: "torch.nn.modules.linear.Identity"}})
    )
    OPENERS["cross-encoder"][1](folder)


@pytest.mark.parametrize("kind", OPENERS)
def test_pickled_weights_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    build, opened = OPENERS[kind]
    folder = build(tmp_path / "model")
    pickle_weights(folder)
    opened(folder)  # safetensors beside it are what is loaded
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"pytorch_model\.bin .*pickled weights.*safetensors"):
        opened(folder)


def test_pickled_weights_that_are_pinned_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib
    from dataclasses import replace

    from indexing import sources as models

    folder = build_tiny_bge_m3(tmp_path / "model")
    pickle_weights(folder)
    (folder / "model.safetensors").unlink()
    sha256 = hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).hexdigest()
    known = models.known_weights()["bge-m3"]
    pinned = replace(known, files=(models.WeightFile("pytorch_model.bin", 1, sha256),))
    monkeypatch.setattr("indexing.devices.known_weights", lambda: {"bge-m3": pinned})
    OPENERS["bge-m3"][1](folder)
