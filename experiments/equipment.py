"""Weights, index and model, made ready with progress for whoever waits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.config import LLMSettings, cache_dir
from arena.llm import model_file
from arena.types import Dataset
from experiments.progress import Reporter
from indexing.retriever import IndexRetriever


@dataclass(frozen=True, slots=True)
class ReadyIndex:
    """A retriever and what identifies the index behind it."""

    retriever: IndexRetriever
    identity: Mapping[str, Any]


def fetch_weights(name: str, reporter: Reporter) -> Path:
    """The named weights on disk, downloaded on first use."""
    from indexing.weights import fetch

    root = cache_dir() / "weights"
    with reporter.bytes(f"downloading {name}") as advance:
        return fetch(name, root, progress=lambda done, total, label: advance(done, total or 0))


def ready_index(dataset: Dataset, embedder_name: str, reporter: Reporter) -> ReadyIndex:
    """The index of a dataset's corpus: opened if it exists, else embedded and built."""
    from indexing.build import ensure_index
    from indexing.embedding import MiniLMEmbedder

    folder = Path(embedder_name).expanduser()
    embedder = MiniLMEmbedder(folder if folder.is_dir() else fetch_weights(embedder_name, reporter))
    with reporter.items(f"embedding {len(dataset.documents)} documents") as advance:
        index = ensure_index(
            dataset.documents,
            embedder,
            cache_dir() / "indexes",
            progress=lambda done, total, label: advance(done, total or 0),
        )
    if index.manifest.truncated_passages:
        share = f"{index.manifest.truncated_passages} of {index.manifest.passages}"
        reporter.warn(f"{share} passages are longer than {embedder_name} reads; the dense lane does not see their ends")
    return ReadyIndex(IndexRetriever(index, embedder), index.manifest.identity.model_dump(mode="json"))


def model_sha256(settings: LLMSettings, reporter: Reporter) -> str | None:
    """SHA-256 of the file a local model (or the script a fake) is made of; None for a model behind a server."""
    path = model_file(settings, lambda name: fetch_weights(name, reporter))
    if path is None:
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
