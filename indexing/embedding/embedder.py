"""Both lanes of the index from one encoder, and what the index needs of an embedder beyond vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from arena.protocols import Embedder, Embedding
from arena.types import well_formed
from indexing.bm25 import Bm25
from indexing.embedding.encoder import Encoded, Encoder, Identity, Provenance


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
