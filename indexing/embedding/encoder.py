"""The neural pass: what an embedding model makes of texts, before any statistics of a corpus come in."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from arena.errors import WeightsError
from arena.protocols import SparseVector, Vectors

Identity = Mapping[str, str | int]
Provenance = Mapping[str, str | int | float]

ENCODING = 1
"""Raised with every change here that makes other vectors of the same model and text: it is in all identities."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """n texts after one pass each.

    `dense`: (n, d) float32, rows L2 = 1 unless set otherwise. `lexical`: the model's own term weights,
    None where it has none. `multi`: one (tokens, d') float32 matrix a text, rows L2 = 1, None unless asked for.
    """

    dense: Vectors
    lexical: tuple[SparseVector, ...] | None = None
    multi: tuple[Vectors, ...] | None = None

    def __len__(self) -> int:
        return len(self.dense)

    def rows(self, places: Sequence[int]) -> Encoded:
        """The texts at `places`, in that order."""
        return Encoded(
            self.dense[np.asarray(places, dtype=np.intp)],
            None if self.lexical is None else tuple(self.lexical[at] for at in places),
            None if self.multi is None else tuple(self.multi[at] for at in places),
        )


@dataclass(frozen=True, slots=True)
class TimedEncoded:
    """Queries, and what embedding each of them took.

    `seconds`: now, or, where `known`, when its vector was first made on this kind of device.
    """

    encoded: Encoded
    seconds: tuple[float, ...]
    known: tuple[bool, ...]


class Encoder(Protocol):
    """A neural pass over texts. The same text gives the same vectors: a batch changes a component by under 1e-5."""

    @property
    def identity(self) -> Identity:
        """What can change a vector: model, hashes, `ENCODING`, dtype, maximal length, instructions.

        Below float32 also the kind of device.
        """
        ...

    @property
    def provenance(self) -> Provenance:
        """What is recorded but identifies nothing: `device`, batch size, library version."""
        ...

    @property
    def dimension(self) -> int:
        """Width d of `Encoded.dense`."""
        ...

    @property
    def batch_texts(self) -> int:
        """Texts of one forward pass over all devices together: the least that is worth a call."""
        ...

    def passages(self, texts: Sequence[str]) -> Encoded: ...

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        """One pass a query, on the first device: the same bits whoever else is asking."""
        ...

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many passages are longer than the model reads."""
        ...


def concatenated(parts: Sequence[Encoded]) -> Encoded:
    """At least one part, one after the other."""
    lexical = [vector for part in parts for vector in part.lexical or ()]
    multi = [matrix for part in parts for matrix in part.multi or ()]
    return Encoded(
        np.concatenate([part.dense for part in parts]),
        None if parts[0].lexical is None else tuple(lexical),
        None if parts[0].multi is None else tuple(multi),
    )


def one_by_one(encode: Callable[[Sequence[str]], Encoded], texts: Sequence[str]) -> TimedEncoded:
    """Encode each text alone and time it. Matrix kernels round differently for another batch shape."""
    parts, seconds = [], []
    for text in texts:
        started = time.perf_counter()
        parts.append(encode([text]))
        seconds.append(time.perf_counter() - started)
    encoded = concatenated(parts) if parts else encode([])
    return TimedEncoded(encoded, tuple(seconds), (False,) * len(texts))


def require_finite(encoded: Encoded, texts: Sequence[str], identity: Identity) -> Encoded:
    """The same, provided every number is finite. Raises `WeightsError` naming the first text that broke the model."""
    broken = set(np.flatnonzero(~np.isfinite(encoded.dense).all(axis=1)).tolist())
    broken |= {row for row, vector in enumerate(encoded.lexical or ()) if not all(map(math.isfinite, vector.values))}
    broken |= {row for row, matrix in enumerate(encoded.multi or ()) if not np.isfinite(matrix).all()}
    if broken:
        model, dtype = identity.get("model", "without a name"), identity.get("dtype", "its dtype")
        raise WeightsError(
            f"the embedding model {model!r} yields numbers that are not finite in {dtype} "
            f"for {texts[min(broken)][:80]!r}: set dtype to float32 or bfloat16, or fetch the weights again"
        )
    return encoded


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows scaled to L2 = 1 in float32; a half-precision model is off by a thousandth. Zero rows stay zero."""
    norms: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return vectors / norms
