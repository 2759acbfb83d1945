"""Any sentence-transformers model (Reimers and Gurevych, 2019): a dense vector a text, its token vectors on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from indexing.devices import FETCH, dealt, loading, replicas, token_bounded, token_counts, tokens_read
from indexing.embedding.embedder import (
    Encoded,
    FolderEncoder,
    Identity,
    concatenated,
    require_finite,
    unit_rows,
    with_preset,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_Measured = tuple[str, int]
"""A text and the tokens that are read of it."""


class SentenceTransformerEncoder(FolderEncoder):
    """An `Encoder` over a sentence-transformers folder. Loading makes no network call.

    Vectors are float32, whatever `dtype` (float32 unless set) the model runs in, with L2 norm 1 unless set otherwise.
    Settings that a preset of the model has are the preset's where they are open. Instructions that are
    not set are the prompts of the model's own configuration: `query`; `document`, `passage` or `corpus`. With
    `multivectors`, the vectors of all tokens, framing ones included, come from the same pass.
    """

    def __init__(self, folder: Path, settings: EmbeddingConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        super().__init__(folder, settings, name)
        settings = with_preset(settings, self._name)
        self._normalize = settings.normalize is not False
        self._distance = settings.distance or "cosine"
        self._pooling = settings.pooling
        model = _load(folder, self._dtype, settings)
        if not self._normalize:
            _without_normalisation(model)
        config = getattr(model.transformers_model, "config", None)
        self._max_length = tokens_read(config, settings.max_length, model.max_seq_length)
        model.max_seq_length = self._max_length
        self._query = _prompt(model, settings.query_instruction, ("query",))
        self._passage = _prompt(model, settings.passage_instruction, ("document", "passage", "corpus"))
        self._replicas = replicas(model, self._devices)
        self._dimension = int(self._encode_queries([""]).dense.shape[1])

    @property
    def identity(self) -> Identity:
        """As of all encoders, and what differs from a model used as its folder says, with unit vectors and cosine."""
        told = {
            "pooling": self._pooling,
            "normalize": None if self._normalize else "no",
            "distance": None if self._distance == "cosine" else self._distance,
        }
        return {**super().identity, **{name: value for name, value in told.items() if value is not None}}

    def passages(self, texts: Sequence[str]) -> Encoded:
        if not texts:
            return self._nothing()

        def work(model: SentenceTransformer, share: list[_Measured]) -> Encoded:
            batches = token_bounded(share, _tokens, self._batch_size)
            return concatenated([self._pass(model, "document", self._passage, [t for t, _ in b]) for b in batches])

        counts = (min(tokens, self._max_length) for tokens in token_counts(self._passage_tokens, texts))
        measured = list(zip(texts, counts, strict=True))
        parts, places = dealt(self._replicas, measured, _tokens, work, section="embedding")
        return require_finite(concatenated(parts).rows(places), texts, self.identity)

    def _encode_queries(self, texts: Sequence[str]) -> Encoded:
        if not texts:
            return self._nothing()
        encoded = self._pass(self._replicas[0], "query", self._query, list(texts))
        return require_finite(encoded, texts, self.identity)

    def _passage_tokens(self, texts: Sequence[str]) -> list[int]:
        whole = [self._passage + text for text in texts]
        encoded = self._replicas[0].tokenizer(whole, truncation=False, return_attention_mask=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def _pass(self, model: SentenceTransformer, task: str, prompt: str, texts: list[str]) -> Encoded:
        """One batch."""
        if self._multivectors:
            return _with_tokens(model, task, prompt, texts)
        encode = model.encode_query if task == "query" else model.encode_document
        vectors = encode(
            texts,
            prompt=prompt,
            batch_size=len(texts),
            normalize_embeddings=self._normalize,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        dense = np.asarray(vectors, dtype=np.float32)
        return Encoded(dense if self._dtype == "float32" or not self._normalize else unit_rows(dense))

    def _nothing(self) -> Encoded:
        return Encoded(np.empty((0, self._dimension), np.float32), multi=() if self._multivectors else None)


def _tokens(measured: _Measured) -> int:
    return measured[1]


def _load(folder: Path, dtype: str, settings: EmbeddingConfig) -> SentenceTransformer:
    """A folder of sentence-transformers, or one of transformers alone, whose token vectors are pooled here."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise WeightsError(
            f"no embedding model in {str(folder)!r}: neither modules.json nor config.json is there; {FETCH}"
        )
    import torch
    from sentence_transformers import SentenceTransformer

    how = {"device": "cpu", "local_files_only": True, "trust_remote_code": settings.trust_remote_code}
    kinds = {"dtype": getattr(torch, dtype)}
    with loading("embedding model", folder):
        if (folder / "modules.json").is_file():
            model: SentenceTransformer = SentenceTransformer(str(folder), model_kwargs=kinds, **how)
            return model if settings.pooling is None else _pooled_by(model, settings.pooling)
        plain: SentenceTransformer = SentenceTransformer(modules=_modules(folder, kinds, settings), **how)
        return plain


def _modules(folder: Path, kinds: Mapping[str, Any], settings: EmbeddingConfig) -> list[Any]:
    """Transformer and pooling over a folder that has no list of modules."""
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    local = {"local_files_only": True, "trust_remote_code": settings.trust_remote_code}
    transformer = Transformer(
        str(folder), model_kwargs={**kinds, **local}, processor_kwargs=dict(local), config_kwargs=dict(local)
    )
    width = transformer.get_embedding_dimension()
    return [transformer, Pooling(width, settings.pooling or "mean")]


def _pooled_by(model: SentenceTransformer, pooling: str) -> SentenceTransformer:
    """The model with its pooling set to another. Raises `ConfigError` where it has none to set."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    for name, module in model.named_children():
        if isinstance(module, Pooling):
            setattr(model, name, Pooling(module.embedding_dimension, pooling))
            return model
    raise ConfigError(f"embedding setting pooling {pooling!r} does not fit a model without a pooling of its own")


def _without_normalisation(model: SentenceTransformer) -> None:
    """Let vectors keep their length, also where the model's own modules would scale them."""
    from sentence_transformers.sentence_transformer.modules import Normalize

    for name, module in list(model.named_children()):
        if isinstance(module, Normalize):
            delattr(model, name)


def _with_tokens(model: SentenceTransformer, task: str, prompt: str, texts: list[str]) -> Encoded:
    """One batch, as the model's `encode` runs it, which keeps either the text's vector or those of its tokens."""
    import torch

    features = model.preprocess(texts, prompt=prompt, task=task)  # a list is invariant
    features = {
        name: to(model.device) if (to := getattr(value, "to", None)) else value for name, value in features.items()
    }
    with torch.inference_mode():
        outputs = model(features, task=task)
    pairs = zip(outputs["token_embeddings"], outputs["attention_mask"].bool(), strict=True)
    tokens = tuple(unit_rows(matrix[mask].float().cpu().numpy()) for matrix, mask in pairs)
    return Encoded(unit_rows(outputs["sentence_embedding"].float().cpu().numpy()), multi=tokens)


def _prompt(model: SentenceTransformer, wanted: str | None, names: Sequence[str]) -> str:
    if wanted is not None:
        return wanted
    own = (model.prompts.get(name) for name in (*names, model.default_prompt_name) if name)
    return next((prompt for prompt in own if prompt), "")
