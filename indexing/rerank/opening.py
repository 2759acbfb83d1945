"""From settings to a reranker: find the weights, load the model."""

from __future__ import annotations

from pathlib import Path, PurePath

from arena.errors import ConfigError, UnknownNameError, WeightsError
from arena.protocols import Reranker
from indexing.embedding import EmbeddingSettings, IndexEmbedder, SentenceTransformerEncoder
from indexing.hub import fetch_repository, is_hub_name, repository_commit
from indexing.opening import Index
from indexing.progress import Progress, silent
from indexing.rerank.flag import BGE_RERANKER, FlagCrossEncoder
from indexing.rerank.late_interaction import EmbedderTokens, EncoderTokens, LateInteraction, StoredLateInteraction
from indexing.rerank.sentence import SentenceCrossEncoder
from indexing.rerank.settings import RerankSettings
from indexing.weights import fetch

LATE_INTERACTION = "late_interaction"
MINILM = "all-minilm-l6-v2"
KNOWN = (LATE_INTERACTION, BGE_RERANKER, "ORG/NAME of the hub", "a folder")


def open_reranker(
    settings: RerankSettings,
    embedder: IndexEmbedder,
    weights_root: Path,
    progress: Progress = silent,
    *,
    index: Index | None = None,
) -> Reranker:
    """The reranker of these settings; its weights are fetched into `weights_root` on first use.

    `late_interaction` takes the token vectors of the embedder where it gives any, those of passages from the `index`
    that stores them; else MiniLM's. bge-reranker-v2-m3, by whatever path or repository of that name, runs through
    FlagEmbedding, any other model through sentence-transformers. Raises `WeightsError` when the weights cannot be
    had, `UnknownNameError` for a name that is none, `ConfigError` for a setting that does not fit the model.
    """
    if settings.model == LATE_INTERACTION:
        return _late_interaction(settings, embedder, weights_root, progress, index)
    folder, name = _locate(settings, weights_root, progress)
    if PurePath(settings.model).name == BGE_RERANKER:
        return FlagCrossEncoder(folder, settings, name=BGE_RERANKER)
    return SentenceCrossEncoder(folder, settings, name=name)


def _late_interaction(
    settings: RerankSettings, embedder: IndexEmbedder, weights_root: Path, progress: Progress, index: Index | None
) -> Reranker:
    if settings.revision is not None:
        raise ConfigError(f"rerank setting revision {settings.revision!r} needs a model of the hub")
    if embedder.embed_queries(["a"]).multi is not None:
        _refuse_model_settings(settings, embedder)
        return LateInteraction(EmbedderTokens(embedder)) if index is None else StoredLateInteraction(index, embedder)
    how = EmbeddingSettings(
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        dtype=settings.dtype,
        devices=settings.devices,
        multivectors=True,
    )
    encoder = SentenceTransformerEncoder(fetch(MINILM, weights_root, progress), how, name=MINILM)
    return LateInteraction(EncoderTokens(encoder))


def _refuse_model_settings(settings: RerankSettings, embedder: IndexEmbedder) -> None:
    """Raise `ConfigError` for settings of a model, where no model is loaded that they could apply to."""
    names = ("max_length", "batch_size", "dtype", "devices")
    given = [f"{name} {value!r}" for name in names if (value := getattr(settings, name)) is not None]
    if given:
        raise ConfigError(
            f"rerank setting {', '.join(given)} has no effect: late_interaction takes the token vectors of the "
            f"embedding model {embedder.identity['model']!r}; set it for that one, or leave it out"
        )


def _locate(settings: RerankSettings, weights_root: Path, progress: Progress) -> tuple[Path, str]:
    """The folder of the model and the name it goes by in identities, which says nothing of this machine."""
    model = settings.model
    folder = Path(model).expanduser()
    named = model == BGE_RERANKER
    if settings.revision is not None and (named or folder.is_dir()):
        raise ConfigError(f"rerank setting revision {settings.revision!r} needs a model of the hub, not {model!r}")
    if named:
        return fetch(model, weights_root, progress), model
    if folder.is_dir():
        return folder, folder.resolve().name
    if is_hub_name(model):
        folder = fetch_repository(model, settings.revision, weights_root, progress)
        return folder, f"{model}@{repository_commit(folder)}"
    if "/" in model or "\\" in model:
        raise WeightsError(f"no folder {model!r}: give one that holds a cross-encoder, or one of {', '.join(KNOWN)}")
    raise UnknownNameError("reranker", model, KNOWN)
