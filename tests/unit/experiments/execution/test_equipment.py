"""What can be refused of a run's equipment is refused before anything is embedded."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.config import RerankConfig, RunConfig
from arena.config.settings import CalibratedThreshold
from arena.errors import ConfigError
from experiments.execution import equipment
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from tests.letter_embedder import LetterEmbedder
from tests.samples import small_dataset
from tests.tiny_models import build_tiny_reranker


def test_a_threshold_of_another_reranker_is_refused_before_anything_is_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(LetterEmbedder):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            raise AssertionError("embedded")

    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(equipment, "embedder_of", lambda *_, **__: Refusing())
    threshold = CalibratedThreshold(value=0.5, reranker="another")
    model = str(build_tiny_reranker(tmp_path / "cross"))
    config = RunConfig(rerank=RerankConfig(model=model, devices=("cpu",), threshold=threshold))
    with pytest.raises(ConfigError, match="was calibrated for reranker 'another'"):
        equipment.open_equipment(config, small_dataset(), Reporter(Console(quiet=True), quiet=True), rerank=True)
