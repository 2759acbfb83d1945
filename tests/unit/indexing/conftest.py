"""One tiny embedding model for all tests of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.embedding import MiniLMEmbedder
from tests.tiny_models import build_tiny_minilm


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_minilm(tmp_path_factory.mktemp("weights") / "tiny-minilm")


@pytest.fixture(scope="session")
def embedder(tiny_folder: Path) -> MiniLMEmbedder:
    return MiniLMEmbedder(tiny_folder, device="cpu")
