"""Any sentence-transformers model (Reimers and Gurevych, 2019): a dense vector a text, its token vectors on request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arena.errors import WeightsError
from indexing.bm25 import Bm25
from indexing.embedding.batches import token_bounded, token_counts
from indexing.embedding.devices import (
    chosen_devices,
    dealt,
    default_batch_size,
    precision_identity,
    provenance,
    replicas,
)
from indexing.embedding.embedder import LaneEmbedder
from indexing.embedding.encoder import (
    ENCODING,
    Encoded,
    Identity,
    Provenance,
    TimedEncoded,
    concatenated,
    one_by_one,
    require_finite,
    unit_rows,
)
from indexing.embedding.model_folder import FETCH, folder_identity, load_errors, tokens_read
from indexing.embedding.settings import EmbeddingSettings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_Measured = tuple[str, int]
"""A text and the tokens that are read of it."""


class SentenceTransformerEncoder:
    """An `Encoder` over a sentence-transformers folder. Loading makes no network call.

    Vectors are float32 with L2 norm 1, whatever `dtype` (float32 unless set) the model runs in. Instructions that are
    not set are the prompts of the model's own configuration: `query`; `document`, `passage` or `corpus`. With
    `multivectors`, the vectors of all tokens, framing ones included, come from the same pass.
    """

    def __init__(self, folder: Path, settings: EmbeddingSettings, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._devices = chosen_devices(settings.devices)
        self._batch_size = settings.batch_size or default_batch_size(self._devices)
        self._dtype = settings.dtype or "float32"
        self._multivectors = settings.multivectors
        self._name = name or folder.name
        model = _load(folder, self._dtype, trust_remote_code=settings.trust_remote_code)
        config = getattr(model.transformers_model, "config", None)
        self._max_length = tokens_read(config, settings.max_length, model.max_seq_length)
        model.max_seq_length = self._max_length
        self._query = _prompt(model, settings.query_instruction, ("query",))
        self._passage = _prompt(model, settings.passage_instruction, ("document", "passage", "corpus"))
        self._replicas = replicas(model, self._devices)
        self._dimension = int(self._encode_queries([""]).dense.shape[1])

    @property
    def identity(self) -> Identity:
        return {
            "model": self._name,
            "encoding": ENCODING,
            **self._hashes,
            **precision_identity(self._dtype, self._devices),
            "max_length_tokens": self._max_length,
            "query_instruction": self._query,
            "passage_instruction": self._passage,
            "multivectors": "all tokens" if self._multivectors else "none",
        }

    @property
    def provenance(self) -> Provenance:
        return provenance(self._devices, self._batch_size)

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def batch_texts(self) -> int:
        return self._batch_size * len(self._devices)

    def count_truncated(self, texts: Sequence[str]) -> int:
        return sum(tokens > self._max_length for tokens in token_counts(self._passage_tokens, texts))

    def passages(self, texts: Sequence[str]) -> Encoded:
        if not texts:
            return self._nothing()

        def work(model: SentenceTransformer, share: list[_Measured]) -> Encoded:
            batches = token_bounded(share, _tokens, self._batch_size)
            return concatenated([self._pass(model, "document", self._passage, [t for t, _ in b]) for b in batches])

        counts = (min(tokens, self._max_length) for tokens in token_counts(self._passage_tokens, texts))
        measured = list(zip(texts, counts, strict=True))
        return require_finite(dealt(self._replicas, measured, _tokens, work), texts, self.identity)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        return one_by_one(self._encode_queries, texts)

    def _encode_queries(self, texts: Sequence[str]) -> Encoded:
        if not texts:
            return self._nothing()
        encoded = self._pass(self._replicas[0], "query", self._query, list(texts))
        return require_finite(encoded, texts, self.identity)

    def _passage_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each whole passage, instruction and framing ones included."""
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
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        dense = np.asarray(vectors, dtype=np.float32)
        return Encoded(dense if self._dtype == "float32" else unit_rows(dense))

    def _nothing(self) -> Encoded:
        return Encoded(np.empty((0, self._dimension), np.float32), multi=() if self._multivectors else None)


class MiniLMEmbedder(LaneEmbedder):
    """all-MiniLM-L6-v2 (Wang et al., 2020), or any folder of its layout, with BM25 beside it."""

    def __init__(self, folder: Path, *, device: str | None = None, batch_size: int | None = None) -> None:
        """Load the model. Raises as `SentenceTransformerEncoder` does."""
        devices = None if device is None else (device,)
        super().__init__(
            SentenceTransformerEncoder(folder, EmbeddingSettings(devices=devices, batch_size=batch_size)), Bm25()
        )


def _tokens(measured: _Measured) -> int:
    return measured[1]


def _load(folder: Path, dtype: str, *, trust_remote_code: bool) -> SentenceTransformer:
    if not (folder / "modules.json").is_file():
        raise WeightsError(f"no sentence-transformers model in {str(folder)!r}: modules.json is missing; {FETCH}")
    import torch
    from sentence_transformers import SentenceTransformer

    try:
        model: SentenceTransformer = SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
        return model
    except load_errors() as error:
        raise WeightsError(f"no loadable embedding model in {str(folder)!r}: {error}; {FETCH}") from error


def _with_tokens(model: SentenceTransformer, task: str, prompt: str, texts: list[str]) -> Encoded:
    """One batch, as the model's `encode` runs it, which keeps either the text's vector or those of its tokens."""
    import torch

    features = model.preprocess(texts, prompt=prompt, task=task)  # type: ignore[arg-type]  # a list is invariant
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
