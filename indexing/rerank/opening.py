"""Open a reranker from its settings, or a trained judge of passages.

The retrieval evaluator of Corrective RAG (Yan et al., 2024) is T5 with a head of one output, read as its score. The
released checkpoint is fine-tuned from T5-large; pairs it was trained on had targets +1 and -1, and its output is not
clamped. A reranker's cross-encoder can judge texts too, question by question.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from arena.config.settings import LATE_INTERACTION, CalibratedThreshold, EmbeddingConfig, RerankConfig
from arena.errors import ConfigError, WeightsError
from arena.protocols import Evaluator, Reranker
from arena.types import Passage, well_formed
from indexing.devices import FolderModel, dealt, device_kind, loading, replicas, token_bounded
from indexing.embedding.embedder import IndexEmbedder
from indexing.embedding.opening import LateEncoder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.files import Progress, silent
from indexing.late import Late, LateModels, ModelFacts
from indexing.opening import Index
from indexing.rerank.cross_encoders import (
    BGE_RERANKER,
    FlagCrossEncoder,
    SentenceCrossEncoder,
    check_outputs,
    in_places,
    steady,
)
from indexing.rerank.late_interaction import EmbedderTokens, EncoderTokens, LateInteraction, StoredLateInteraction
from indexing.weights import fetch, locate

MINILM = "all-minilm-l6-v2"
NAMED = {BGE_RERANKER: BGE_RERANKER}
"""Names of the pinned weights of rerankers."""


def open_reranker(
    settings: RerankConfig,
    embedder: IndexEmbedder,
    weights_root: Path,
    progress: Progress = silent,
    *,
    index: Index | None = None,
    late: LateModels | None = None,
) -> Reranker:
    """The reranker of these settings; its weights are fetched into `weights_root` on first use.

    A model of its own is opened now, or as one of the `late` ones.

    `late_interaction` takes the token vectors of the embedder where it gives any, those of passages from the `index`
    that stores them; else MiniLM's. bge-reranker-v2-m3, by whatever path or repository of that name, runs through
    FlagEmbedding, any other model through sentence-transformers. Raises `WeightsError` when the weights cannot be
    had, `UnknownNameError` for a name that is none, `ConfigError` for a setting that does not fit the model.
    """
    if settings.model == LATE_INTERACTION:
        return _late_interaction(settings, embedder, weights_root, progress, index, late)
    folder, name = locate(settings, "rerank", NAMED, weights_root, progress, others=(LATE_INTERACTION,))
    kind: type[FlagCrossEncoder | SentenceCrossEncoder] = SentenceCrossEncoder
    if PurePath(settings.model).name == BGE_RERANKER:
        kind, name = FlagCrossEncoder, BGE_RERANKER
    opening = partial(kind, folder, settings, name=name)
    return late.add(LateReranker, opening, folder, settings, kind.__name__, name) if late else opening()


def _late_interaction(
    settings: RerankConfig,
    embedder: IndexEmbedder,
    weights_root: Path,
    progress: Progress,
    index: Index | None,
    late: LateModels | None,
) -> Reranker:
    if settings.revision is not None:
        raise ConfigError(f"rerank setting revision {settings.revision!r} needs a model of the hub")
    if embedder.embed_queries(["a"]).multi is not None:
        _refuse_model_settings(settings, embedder)
        return LateInteraction(EmbedderTokens(embedder)) if index is None else StoredLateInteraction(index, embedder)
    how = EmbeddingConfig(
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        dtype=settings.dtype,
        devices=settings.devices,
        multivectors=True,
    )
    folder = fetch(MINILM, weights_root, progress)
    opening = partial(SentenceTransformerEncoder, folder, how, name=MINILM)
    encoder = late.add(LateEncoder, opening, folder, how, "SentenceTransformerEncoder", MINILM) if late else opening()
    return LateInteraction(EncoderTokens(encoder))


class RerankerFacts(ModelFacts):
    """See `Reranker`."""

    default_threshold: float | None


class LateReranker(Late[Reranker, RerankerFacts]):
    """A `Reranker` whose model is opened by the first pairs to be scored."""

    _kind = RerankerFacts

    @property
    def default_threshold(self) -> float | None:
        return self._facts.default_threshold

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        return self.open().score(queries, candidates)


def _refuse_model_settings(settings: RerankConfig, embedder: IndexEmbedder) -> None:
    """Raise `ConfigError` for settings of a model, where no model is loaded that they could apply to."""
    names = ("max_length", "batch_size", "dtype", "devices")
    given = [f"{name} {value!r}" for name in names if (value := getattr(settings, name)) is not None]
    if given:
        raise ConfigError(
            f"rerank setting {', '.join(given)} has no effect: late_interaction takes the token vectors of the "
            f"embedding model {embedder.identity['model']!r}; set it for that one, or leave it out"
        )


def resolve_threshold(settings: RerankConfig, reranker: Reranker) -> float | None:
    """The score below which this reranker's candidates are dropped; None drops none.

    Raises `ConfigError`, naming both, for a threshold that was calibrated for another reranker.
    """
    threshold = settings.threshold
    if isinstance(threshold, CalibratedThreshold):
        model = reranker.identity["model"]
        if threshold.reranker != model:
            raise ConfigError(
                f"threshold {threshold.value!r} was calibrated for reranker {threshold.reranker!r} and says nothing "
                f"about the scores of {model!r}: calibrate it for that one, use {threshold.reranker!r}, "
                "or set a plain number to insist"
            )
        return threshold.value
    return reranker.default_threshold if threshold == "default" else threshold


MAX_LENGTH = 512
SEPARATOR = " [SEP] "
_RELEASED = "take the retrieval evaluator that was released with Corrective RAG"


class T5Evaluator(FolderModel):
    """An `Evaluator` over a folder with a T5 for sequence classification; texts beyond 512 tokens are cut off.

    Texts are padded to the longest of their batch instead of to 512: padding is masked, so that scores are the same.
    """

    def __init__(self, folder: Path, settings: RerankConfig) -> None:
        """On the devices of `settings`. Raises `WeightsError` when the folder holds no loadable T5 with one output."""
        super().__init__(
            folder, RerankConfig(devices=settings.devices, batch_size=settings.batch_size), folder.resolve().name
        )
        self._tokenizer, model = _load(folder)
        self._replicas = replicas(model, self._devices)
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": self._name,
            **self._hashes,
            "dtype": "float32",
            "device": device_kind(self._devices[0]),
            "max_length_tokens": MAX_LENGTH,
        }

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Evaluator.score`; nominally in [-1, 1]. One caller at a time, the others wait."""
        if not texts:
            return []
        inputs = [self._input(question, text) for text in texts]
        with self._turn:
            encoded = self._tokenizer(inputs, max_length=MAX_LENGTH, truncation=True)["input_ids"]
            scores = in_places(*dealt(self._replicas, encoded, len, self._logits, section="rerank"))
        return [steady(score) for score in scores]

    def _input(self, question: str, text: str) -> str:
        """The pair as one text; the head reads at the end mark, so a text may not write one itself."""
        return well_formed(f"{question}{SEPARATOR}{text}").replace(self._tokenizer.eos_token, " ")

    def _logits(self, model: Any, rows: list[list[int]]) -> list[float]:
        import torch

        device = next(model.parameters()).device
        scores: list[float] = []
        with torch.inference_mode():
            for batch in token_bounded(rows, len, self._batch_size):
                padded = self._tokenizer.pad({"input_ids": batch}, return_tensors="pt").to(device)
                scores += model(**padded).logits.view(-1).float().cpu().tolist()
        return scores


def _load(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoTokenizer, T5ForSequenceClassification

    with loading("T5 evaluator", folder):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, report = T5ForSequenceClassification.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    check_outputs(model.config.num_labels, "T5", folder, _RELEASED)
    if any(name.startswith("classification_head") for name in report["missing_keys"]):
        raise WeightsError(f"the T5 in {str(folder)!r} has no trained head and would score at random: {_RELEASED}")
    return tokenizer, model


def open_t5_evaluator(folder: Path, settings: RerankConfig, late: LateModels | None = None) -> Evaluator:
    """The T5 of a folder, opened now, or as one of the `late` ones. Raises as `T5Evaluator` does."""
    opening = partial(T5Evaluator, folder, settings)
    name = folder.resolve().name
    return late.add(LateEvaluator, opening, folder, settings, "T5Evaluator", name) if late else opening()


class LateEvaluator(Late[Evaluator, ModelFacts]):
    """An `Evaluator` whose model is opened by the first texts to be judged."""

    _kind = ModelFacts

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return self.open().score(question, texts)


class RerankerEvaluator:
    """An `Evaluator` over a `Reranker` that reads any text; scores are on that reranker's own scale."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._reranker.identity

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Evaluator.score`. One caller at a time, the others wait."""
        passages = [Passage(str(place), str(place), "", text, 0, len(text)) for place, text in enumerate(texts)]
        with self._turn:
            (scores,) = self._reranker.score([question], [passages])
        return scores
