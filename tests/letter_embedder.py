"""An embedder without a model: how often each letter occurs. For tests of everything around the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Self

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors


class LetterEmbedder:
    """26 dimensions, one more that is never zero; sparse terms are the letters. Needs no corpus."""

    identity: Mapping[str, str | int] = {"model": "letters"}
    provenance: Mapping[str, str | int | float] = {}
    dimension = len(ascii_lowercase) + 1
    sparse_idf = True
    batch_texts = 64

    def fitted(self, texts: Sequence[str]) -> Self:
        return self

    def count_truncated(self, texts: Sequence[str]) -> int:
        return 0

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        counts = np.array([[text.lower().count(letter) for letter in ascii_lowercase] for text in texts], np.float32)
        counts = counts.reshape(len(texts), len(ascii_lowercase))
        dense: Vectors = np.hstack([counts, np.ones((len(texts), 1), np.float32)])
        dense /= np.linalg.norm(dense, axis=1, keepdims=True)
        return Embedding(dense, tuple(_terms(row) for row in counts))

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        return self.embed_passages(texts)


def _terms(counts: Vectors) -> SparseVector:
    found = np.flatnonzero(counts)
    return SparseVector(tuple(map(int, found)), tuple(map(float, counts[found])))
