"""One tiny embedding model for all tests of the index, and one index for those that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.types import Document
from indexing.opening import Index
from indexing.retriever import IndexRetriever
from tests.indexes import MiniLMEmbedder, build_index, open_index
from tests.tiny_models import build_tiny_minilm
from tests.unit.indexing.retrieving import WORDS, LengthReranker


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_minilm(tmp_path_factory.mktemp("weights") / "tiny-minilm")


@pytest.fixture(scope="session")
def embedder(tiny_folder: Path) -> MiniLMEmbedder:
    return MiniLMEmbedder(tiny_folder, device="cpu")


@pytest.fixture(scope="session")
def documents() -> list[Document]:
    """60 documents; every sixth says what another one says, word for word."""
    rng = np.random.default_rng(11)
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(2, 12)))) for _ in range(60)]
    for copy in range(0, 60, 6):
        texts[copy] = texts[copy + 1]
    return [Document(f"d{number:02}", "", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="session")
def index(
    documents: list[Document], embedder: MiniLMEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("retriever") / "index"
    build_index(documents, embedder, folder)
    with open_index(folder, documents, embedder) as opened:
        yield opened


@pytest.fixture
def retriever(index: Index, embedder: MiniLMEmbedder) -> IndexRetriever:
    return IndexRetriever(index, embedder, LengthReranker())
