"""Indexes at a place of a test's own: built whatever is there, and opened by documents instead of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import indexing.opening
from arena.config.settings import EmbeddingConfig
from arena.types import Document
from indexing.bm25 import Bm25
from indexing.build import assemble, writing
from indexing.chunking import WHOLE_DOCUMENTS, Chunking
from indexing.embedding.embedder import IndexEmbedder, LaneEmbedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.engines.ranking import EngineSettings
from indexing.files import Progress, silent, unheard
from indexing.manifest import IndexManifest
from indexing.opening import Index, IndexPlan, plan_index


class MiniLMEmbedder(LaneEmbedder):
    """A folder of all-MiniLM-L6-v2's layout, with BM25 beside it."""

    def __init__(self, folder: Path, *, device: str | None = None, batch_size: int | None = None) -> None:
        settings = EmbeddingConfig(devices=None if device is None else (device,), batch_size=batch_size)
        super().__init__(SentenceTransformerEncoder(folder, settings), Bm25())


def planned(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
) -> IndexPlan:
    settings = EngineSettings(engine) if isinstance(engine, str) else engine
    return plan_index(documents, embedder, settings, chunking)


def index_folder(
    root: Path, documents: Sequence[Document], embedder: IndexEmbedder, engine: str | EngineSettings = "edge"
) -> Path:
    return root / planned(documents, embedder, engine).folder_name


def build_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    folder: Path,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = 256,
    progress: Progress = silent,
    tell: Callable[[str], None] = unheard,
) -> IndexManifest:
    plan = planned(documents, embedder, engine, chunking)
    with writing(folder, tell) as work:
        return assemble(plan, embedder, folder, work, slice_size, progress)


def open_index(
    folder: Path,
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
) -> Index:
    return indexing.opening.open_index(folder, planned(documents, embedder, engine, chunking))
