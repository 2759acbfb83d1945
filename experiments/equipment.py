"""Weights, index, reranker and model file, made ready with progress for whoever waits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.config import CalibratedThreshold, LLMSettings, RunConfig, cache_dir, qdrant_key
from arena.llm import model_file
from arena.protocols import Reranker
from arena.types import Dataset
from experiments.progress import Reporter
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, TokenWindows
from indexing.engines.settings import EngineSettings

if TYPE_CHECKING:
    from indexing.embedding import EmbeddingSettings, IndexEmbedder
    from indexing.retriever import IndexRetriever


@dataclass(frozen=True, slots=True)
class Reranking:
    """What the rerank modes run with: the reranker's name, all that identifies it, and the threshold it applies."""

    model: str
    identity: Mapping[str, str | int]
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Equipment:
    """A retriever, and what identifies the index and the reranker behind it."""

    retriever: IndexRetriever
    index_identity: Mapping[str, Any]
    reranking: Reranking | None

    @property
    def embedder(self) -> str:
        """Name of the embedding model."""
        return str(self.index_identity["embedder"]["model"])


def weights_root() -> Path:
    """Where weights are kept."""
    return cache_dir() / "weights"


def index_root() -> Path:
    """Where indexes are kept, each in a folder named by its identity."""
    return cache_dir() / "indexes"


def fetch_weights(name: str, reporter: Reporter) -> Path:
    """The named weights on disk, downloaded on first use."""
    from indexing.weights import fetch

    with reporter.bytes(f"downloading {name}") as advance:
        return fetch(name, weights_root(), progress=lambda done, total, label: advance(done, total or 0))


def embedding_settings(config: RunConfig) -> EmbeddingSettings:
    """The embedding part of a config, as the index takes it."""
    from indexing.embedding import EmbeddingSettings

    return EmbeddingSettings(**config.embedding.model_dump())


def embedder_of(config: RunConfig, reporter: Reporter) -> IndexEmbedder:
    """The embedder of a run, its vectors kept between runs."""
    from indexing.embedding import open_embedder

    with reporter.bytes(f"downloading {config.embedding.model}") as advance:
        return open_embedder(
            embedding_settings(config),
            weights_root(),
            lambda done, total, label: advance(done, total or 0),
            cache_root=cache_dir() / "embeddings",
        )


def engine_of(config: RunConfig) -> EngineSettings:
    """Which engine holds the index, and where."""
    index = config.index
    key = qdrant_key(index) if index.url else None
    return EngineSettings(kind=index.engine, url=index.url, api_key=key, path=index.path, search=index.search)


def chunking_of(config: RunConfig) -> Chunking:
    """How documents become passages; tokens are those of the embedding model, whose weights must be here."""
    if config.chunking.tokens is None:
        return WHOLE_DOCUMENTS
    from indexing.embedding.factory import locate_model
    from indexing.tokens import ModelTokenizer

    folder, _ = locate_model(embedding_settings(config), weights_root())
    return TokenWindows(config.chunking.tokens, config.chunking.overlap, ModelTokenizer(folder))


def ready_equipment(config: RunConfig, dataset: Dataset, reporter: Reporter, *, rerank: bool) -> Equipment:
    """The index of the dataset's corpus, opened if it exists, else embedded and built; with a reranker if asked."""
    from indexing.build import ensure_index
    from indexing.retriever import IndexRetriever

    embedder = embedder_of(config, reporter)
    with reporter.items(f"embedding {len(dataset.documents)} documents") as advance:
        index = ensure_index(
            dataset.documents,
            embedder,
            index_root(),
            engine=engine_of(config),
            chunking=chunking_of(config),
            keep_batches=False,  # the embedding cache has them
            progress=lambda done, total, label: advance(done, total or 0),
        )
    if index.manifest.truncated_passages:
        share = f"{index.manifest.truncated_passages} of {index.manifest.passages}"
        reporter.warn(
            f"{share} passages are longer than {config.embedding.model} reads; the dense lane does not see their ends"
        )
    reranker, reranking = _reranker(config, embedder, reporter) if rerank else (None, None)
    identity = index.manifest.identity.model_dump(mode="json")
    return Equipment(IndexRetriever(index, embedder, reranker), identity, reranking)


def model_sha256(settings: LLMSettings, reporter: Reporter) -> str | None:
    """SHA-256 of the file a local model (or the script a fake) is made of; None for a model behind a server."""
    path = model_file(settings, lambda name: fetch_weights(name, reporter))
    if path is None:
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reranker(config: RunConfig, embedder: IndexEmbedder, reporter: Reporter) -> tuple[Reranker, Reranking]:
    from indexing.rerank import CalibratedThreshold as Calibrated
    from indexing.rerank import RerankSettings, open_reranker, resolve_threshold

    wanted = config.rerank
    fields = wanted.model_dump(exclude={"threshold"})
    threshold = wanted.threshold
    if isinstance(threshold, CalibratedThreshold):
        settings = RerankSettings(**fields, threshold=Calibrated(threshold.value, threshold.reranker))
    else:
        settings = RerankSettings(**fields, threshold=threshold)
    with reporter.bytes(f"downloading {wanted.model}") as advance:
        reranker = open_reranker(
            settings, embedder, weights_root(), lambda done, total, label: advance(done, total or 0)
        )
    name = str(reranker.identity["model"])
    return reranker, Reranking(name, reranker.identity, resolve_threshold(settings, reranker))
