"""Text to the two lanes of the index, and what the index needs of an embedder beyond that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, cast

import numpy as np

from arena.errors import WeightsError
from arena.protocols import Embedder, Embedding, Vectors
from indexing.bm25 import Bm25

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BATCH_SIZE = 32


class IndexEmbedder(Embedder, Protocol):
    """An `Embedder` that can be fitted to a corpus and says what it cuts off."""

    @property
    def provenance(self) -> Mapping[str, str | int | float]:
        """What is worth recording but does not identify an index: device, batch size, corpus statistics."""
        ...

    def fitted(self, texts: Sequence[str]) -> Self:
        """The embedder with the statistics of this corpus, which `embed_passages` needs. Queries need none."""
        ...

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many texts are longer than the model reads; their tails do not reach the dense lane."""
        ...


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 (Wang et al., 2020) for the dense lane, BM25 for the sparse lane, from a local folder.

    Any sentence-transformers folder of that layout works. Vectors are float32 with L2 norm 1. Passages are
    embedded in length-sorted batches; a batch changes a component by less than 1e-5. Queries are embedded
    one at a time, because matrix kernels round differently for another batch shape and a benchmark wants the
    same bits whoever else is asking. Loading makes no network call.
    """

    def __init__(self, folder: Path, *, device: str | None = None, batch_size: int = BATCH_SIZE) -> None:
        """Load the model; `device` None takes the GPU where there is one.

        Raises `WeightsError` when the folder does not hold a loadable model.
        """
        self._weights_sha256 = _sha256(folder / "model.safetensors")
        self._tokenizer_sha256 = _sha256(folder / "tokenizer.json")
        self._model = _load(folder, device)
        self._batch_size = batch_size
        self._dimension = int(self._encode([""], 1).shape[1])
        self._bm25 = Bm25()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": "all-minilm-l6-v2+bm25",
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": self._tokenizer_sha256,
            "dtype": "float32",
            "max_length_tokens": self._max_length,
            "bm25": self._bm25.identity,
        }

    @property
    def provenance(self) -> Mapping[str, str | int | float]:
        average = self._bm25.average_terms
        statistics = {} if average is None else {"average_terms": average}
        return {"device": str(self._model.device), "batch_size": self._batch_size, **statistics}

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def _max_length(self) -> int:
        return int(self._model.max_seq_length or 0)

    def fitted(self, texts: Sequence[str]) -> Self:
        fitted = copy(self)  # the model is shared
        fitted._bm25 = self._bm25.fitted(texts)
        return fitted

    def count_truncated(self, texts: Sequence[str]) -> int:
        if not texts:
            return 0
        encoded = self._model.tokenizer(list(texts), truncation=False, return_attention_mask=False, verbose=False)
        return sum(len(ids) > self._max_length for ids in encoded["input_ids"])

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        return Embedding(self._encode(texts, self._batch_size), self._bm25.passages(texts))

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        return Embedding(self._encode(texts, 1), self._bm25.queries(texts))

    def _encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """(n, d) float32, rows L2 = 1."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._model.encode(
            list(texts),
            batch_size=batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return cast("Vectors", np.asarray(vectors, dtype=np.float32))


def _load(folder: Path, device: str | None) -> SentenceTransformer:
    import torch
    from sentence_transformers import SentenceTransformer

    try:
        model: SentenceTransformer = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": torch.float32}
        )
        return model
    except (OSError, ValueError, KeyError) as error:
        raise WeightsError(
            f"no loadable embedding model in {str(folder)!r}: {error}; `arena models fetch` brings it"
        ) from error


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise WeightsError(
            f"cannot read {str(file)!r}: {error.strerror or error}; `arena models fetch` brings it"
        ) from error
