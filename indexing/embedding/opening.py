"""From settings to an embedder: find the weights, load the model, put the cache before it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arena.errors import ConfigError, UnknownNameError, WeightsError
from indexing.bm25 import Bm25
from indexing.embedding.bge_m3 import BgeM3Encoder, is_bge_m3
from indexing.embedding.cache import CachedEncoder
from indexing.embedding.embedder import EmbeddingSettings, Encoder, IndexEmbedder, LaneEmbedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.files import Progress, silent
from indexing.hub import fetch_repository, is_hub_name, repository_commit
from indexing.weights import fetch

NAMED: Mapping[str, str] = {
    "minilm": "all-minilm-l6-v2",
    "all-minilm-l6-v2": "all-minilm-l6-v2",
    "bge-m3": "bge-m3",
}
"""Names of the pinned weights of embedding models."""


def open_embedder(
    settings: EmbeddingSettings, weights_root: Path, progress: Progress = silent, *, cache_root: Path | None = None
) -> IndexEmbedder:
    """The embedder of these settings; its weights are fetched into `weights_root` on first use.

    A folder with bge-m3's heads is run as bge-m3, any other as a sentence-transformers model with BM25 as its sparse
    lane. Vectors are kept under `cache_root`; None keeps none. Raises `WeightsError` when the weights cannot be had,
    `UnknownNameError` for a name that is none, `ConfigError` for a setting that does not fit the model.
    """
    folder, name = locate_model(settings, weights_root, progress)
    bge = is_bge_m3(folder)
    encoder: Encoder
    if bge:
        encoder = BgeM3Encoder(folder, settings, name=name)
    else:
        encoder = SentenceTransformerEncoder(folder, settings, name=name)
    if cache_root is not None:
        encoder = CachedEncoder(encoder, cache_root)
    return LaneEmbedder(encoder, None if bge else Bm25())


def locate_model(settings: EmbeddingSettings, weights_root: Path, progress: Progress = silent) -> tuple[Path, str]:
    """The folder of the model and the name it goes by in identities, which says nothing of this machine."""
    model = settings.model
    folder = Path(model).expanduser()
    if model in NAMED and settings.revision is None:
        return fetch(NAMED[model], weights_root, progress), NAMED[model]
    if settings.revision is not None and (model in NAMED or folder.is_dir()):
        raise ConfigError(f"embedding setting revision {settings.revision!r} needs a model of the hub, not {model!r}")
    if folder.is_dir():
        return folder, folder.resolve().name
    if is_hub_name(model):
        folder = fetch_repository(model, settings.revision, weights_root, progress)
        return folder, f"{model}@{repository_commit(folder)}"
    if "/" in model or "\\" in model:
        raise WeightsError(f"no folder {model!r}: give one that holds a model, a name of the hub, or minilm or bge-m3")
    raise UnknownNameError("embedding model", model, [*NAMED, "ORG/NAME of the hub", "a folder"])
