"""What the index needs of an embedder: the neural pass (`Encoder`), and both lanes made of it.

An encoder knows no statistics of a corpus; the sparse lane of BM25 does.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

import numpy as np

from arena.config.settings import EmbeddingConfig
from arena.errors import WeightsError
from arena.protocols import Embedder, Embedding, SparseVector, Vectors
from arena.types import well_formed
from indexing.bm25 import Bm25
from indexing.devices import FolderModel, device_kind, precision_identity, token_counts

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


class FolderEncoder(FolderModel, ABC):
    """What the encoders have in common that run the model of a folder; see `Encoder`.

    One sets its instructions, how many tokens it reads, its width, and its copies, of which the first embeds queries.
    """

    token_vectors = "all tokens"  # of a text, as the identity calls them

    _query: str
    _passage: str
    _max_length: int
    _dimension: int

    def __init__(self, folder: Path, settings: EmbeddingConfig, name: str | None, *, half_on_gpu: bool = False) -> None:
        super().__init__(folder, settings, name, half_on_gpu=half_on_gpu)
        self._multivectors = settings.multivectors

    @abstractmethod
    def _encode_queries(self, texts: Sequence[str]) -> Encoded:
        """All in one batch."""

    @abstractmethod
    def _passage_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each whole passage, instruction and framing ones included."""

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
            "multivectors": self.token_vectors if self._multivectors else "none",
        }

    @property
    def provenance(self) -> Provenance:
        import torch

        threads = {"threads": torch.get_num_threads()} if "cpu" in map(device_kind, self._devices) else {}
        device = ",".join(self._devices)
        return {"device": device, "batch_size": self._batch_size, "torch": torch.__version__, **threads}

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def batch_texts(self) -> int:
        return self._batch_size * len(self._devices)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        """Each alone and timed: matrix kernels round differently for another batch shape."""
        parts, seconds = [], []
        for text in texts:
            started = time.perf_counter()
            parts.append(self._encode_queries([text]))
            seconds.append(time.perf_counter() - started)
        encoded = concatenated(parts) if parts else self._encode_queries([])
        return TimedEncoded(encoded, tuple(seconds), (False,) * len(texts))

    def count_truncated(self, texts: Sequence[str]) -> int:
        return sum(tokens > self._max_length for tokens in token_counts(self._passage_tokens, texts))


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


@dataclass(frozen=True, slots=True)
class TimedQueries:
    """Embedded queries and the seconds each took: now, or, where `known`, when its vector was first made."""

    embedding: Embedding
    seconds: tuple[float, ...]
    known: tuple[bool, ...]


class IndexEmbedder(Embedder, Protocol):
    """An `Embedder` that can be fitted to a corpus and says what it cuts off."""

    @property
    def provenance(self) -> Provenance:
        """What is worth recording but does not identify an index: device, batch size, corpus statistics."""
        ...

    @property
    def sparse_idf(self) -> bool:
        """Whether the engine weighs the sparse lane by inverse document frequency: BM25 wants it, bge-m3 does not."""
        ...

    @property
    def batch_texts(self) -> int:
        """Texts of one forward pass over all devices together: fewer in a call leave a device idle."""
        ...

    def fitted(self, texts: Sequence[str]) -> Self:
        """The embedder with the statistics of this corpus, which `embed_passages` needs. Queries need none."""
        ...

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many texts are longer than the model reads; their tails do not reach the dense lane."""
        ...


@runtime_checkable
class TimesQueries(Protocol):
    """An embedder that knows what each query cost, also when its vector was kept from an earlier run."""

    def embed_queries_timed(self, texts: Sequence[str]) -> TimedQueries: ...


def embed_queries_timed(embedder: Embedder, texts: Sequence[str]) -> TimedQueries:
    """Embed queries and say what each took; one that does not time them shares its time evenly among them."""
    if isinstance(embedder, TimesQueries):
        return embedder.embed_queries_timed(texts)
    started = time.perf_counter()
    embedding = embedder.embed_queries(texts)
    share = (time.perf_counter() - started) / max(len(texts), 1)
    return TimedQueries(embedding, (share,) * len(texts), (False,) * len(texts))


class LaneEmbedder:
    """An `IndexEmbedder`: the encoder's dense lane, and as sparse lane its lexical weights, else BM25."""

    def __init__(self, encoder: Encoder, bm25: Bm25 | None) -> None:
        """`bm25` None takes the encoder's own lexical weights, which it then must have."""
        self._encoder = encoder
        self._bm25 = bm25

    @property
    def identity(self) -> Identity:
        sparse = "lexical weights of the model" if self._bm25 is None else f"bm25 {self._bm25.identity}"
        return {**self._encoder.identity, "sparse": sparse}

    @property
    def provenance(self) -> Provenance:
        average = self._bm25.average_terms if self._bm25 else None
        return {**self._encoder.provenance, **({} if average is None else {"average_terms": average})}

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def sparse_idf(self) -> bool:
        return self._bm25 is not None

    @property
    def batch_texts(self) -> int:
        return self._encoder.batch_texts

    def fitted(self, texts: Sequence[str]) -> Self:
        fitted = copy(self)  # the model is shared
        if self._bm25 is not None:
            fitted._bm25 = self._bm25.fitted([well_formed(text) for text in texts])
        return fitted

    def count_truncated(self, texts: Sequence[str]) -> int:
        return self._encoder.count_truncated([well_formed(text) for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        texts = [well_formed(text) for text in texts]
        encoded = self._encoder.passages(texts)
        sparse = encoded.lexical if self._bm25 is None else self._bm25.passages(texts)
        return _embedding(encoded, sparse)

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        return self.embed_queries_timed(texts).embedding

    def embed_queries_timed(self, texts: Sequence[str]) -> TimedQueries:
        """See `TimesQueries`. Term vectors of BM25 take microseconds and are not counted."""
        texts = [well_formed(text) for text in texts]
        timed = self._encoder.queries(texts)
        sparse = timed.encoded.lexical if self._bm25 is None else self._bm25.queries(texts)
        return TimedQueries(_embedding(timed.encoded, sparse), timed.seconds, timed.known)


def _embedding(encoded: Encoded, sparse: Sequence[object] | None) -> Embedding:
    if sparse is None:
        raise ValueError("this encoder has no lexical weights: give it BM25")
    return Embedding(encoded.dense, tuple(sparse), encoded.multi)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Preset:
    """How a model was trained to be used, where its folder does not say so. None = as any other."""

    pooling: str | None = None
    normalize: bool | None = None
    distance: str | None = None
    query_instruction: str | None = None
    passage_instruction: str | None = None


_CONTRIEVER = Preset(pooling="mean", normalize=False, distance="dot")
_E5 = Preset(pooling="mean", query_instruction="query: ", passage_instruction="passage: ")
_BGE = Preset(pooling="cls", query_instruction="Represent this sentence for searching relevant passages: ")
_SIZES = ("small", "base", "large")
PRESETS: Mapping[str, Preset] = {
    "contriever": _CONTRIEVER,
    "contriever-msmarco": _CONTRIEVER,
    **{f"e5-{size}{version}": _E5 for size in _SIZES for version in ("", "-v2")},
    **{f"multilingual-e5-{size}": _E5 for size in _SIZES},
    **{f"bge-{size}-en{version}": _BGE for size in _SIZES for version in ("", "-v1.5")},
}
"""Model, without its owner, -> what its authors say of it: Izacard et al., 2022 (inner product of mean vectors); Wang
et al., 2022 (prefixes); Xiao et al., 2023 (first token, instruction before queries)."""


def with_preset(settings: EmbeddingConfig, name: str) -> EmbeddingConfig:
    """The settings; what they leave open is as the preset of model `name` (ORG/NAME@COMMIT, a folder's name) has it."""
    preset = PRESETS.get(name.rpartition("/")[2].partition("@")[0].lower(), Preset())
    # Not validated anew: a preset holds what the settings allow.
    return settings.model_copy(
        update={
            one.name: getattr(preset, one.name)
            for one in fields(Preset)
            if getattr(settings, one.name) is None and getattr(preset, one.name) is not None
        }
    )
