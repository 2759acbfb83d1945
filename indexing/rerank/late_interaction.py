"""Late interaction (Khattab and Zaharia, 2020): every token of the query finds its best match in the passage."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from arena.errors import ConfigError
from arena.protocols import Reranker, Vectors
from arena.types import Passage, well_formed
from indexing.chunking import indexed_text
from indexing.embedding.embedder import Encoder, IndexEmbedder
from indexing.opening import Index
from indexing.rerank.cross_encoders import PASSAGE_TEXT, steady

NO_TOKENS = -1.0
FRAMED = "all tokens"  # what an encoder's identity says when its token vectors include the framing ones
CACHE_BYTES = 1 << 29
GROUP = 4  # queries whose passages are embedded together; bounds the memory of a batch of hundreds

Identity = Mapping[str, str | int]


class TokenVectors(Protocol):
    """Texts to one (tokens, d) float32 matrix each, rows L2 = 1; no rows for a text without tokens."""

    @property
    def identity(self) -> Identity: ...

    def queries(self, texts: Sequence[str]) -> Sequence[Vectors]: ...

    def passages(self, texts: Sequence[str]) -> Sequence[Vectors]: ...


class EncoderTokens:
    """Token vectors of a sentence-transformers encoder that was opened with `multivectors`.

    The two tokens that frame every text are left out: they would match each other in every passage.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def identity(self) -> Identity:
        device = str(self._encoder.provenance["device"]).partition(":")[0]
        return {**self._encoder.identity, "multivectors": "all tokens but the framing two", "device": device}

    def queries(self, texts: Sequence[str]) -> Sequence[Vectors]:
        return [matrix[1:-1] for matrix in self._encoder.queries(texts).encoded.multi or ()]

    def passages(self, texts: Sequence[str]) -> Sequence[Vectors]:
        return [matrix[1:-1] for matrix in self._encoder.passages(texts).multi or ()]


class EmbedderTokens:
    """Token vectors that an embedder gives beside its two lanes, as bge-m3 does from the same pass.

    They are taken as an index stores them. Where those of the framing tokens are among them, scores are higher than
    `EncoderTokens` gives with the same model, so the model goes by another name: no threshold fits both.
    """

    def __init__(self, embedder: IndexEmbedder) -> None:
        """Raise `ConfigError` when the embedder gives none."""
        if embedder.embed_queries(["a"]).multi is None:
            raise ConfigError(
                f"the embedding model {embedder.identity['model']!r} gives no token vectors for late interaction: "
                "set its multivectors"
            )
        self._embedder = embedder

    @property
    def identity(self) -> Identity:
        device = str(self._embedder.provenance.get("device", "none")).partition(":")[0]
        identity = self._embedder.identity
        framed = {"model": f"{identity['model']}+framing"} if identity.get("multivectors") == FRAMED else {}
        return {**identity, **framed, "device": device}

    def queries(self, texts: Sequence[str]) -> Sequence[Vectors]:
        return self._embedder.embed_queries(texts).multi or ()

    def passages(self, texts: Sequence[str]) -> Sequence[Vectors]:
        return self._embedder.fitted(texts).embed_passages(texts).multi or ()


class LateInteraction:
    """A `Reranker`: the mean over the query's tokens of their highest cosine with a token of the passage, in [-1, 1].

    A query without tokens scores every passage 0; a passage without tokens scores -1. Token vectors of passages are
    kept up to `cache_bytes`, least recently used ones go first. One thread at a time.

    Token vectors of passages are the work of an index, made here on first use. `passage_seconds` says how long that
    took, so that a strategy is not slower for coming first: a retriever leaves it out of a query's rerank seconds,
    and a question's clock then counts it as waiting.
    """

    def __init__(self, tokens: TokenVectors, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._tokens = tokens
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._kept_bytes = 0
        self._cache_bytes = cache_bytes
        self._passage_seconds = 0.0

    @property
    def identity(self) -> Identity:
        return _identity(self._tokens.identity)

    @property
    def default_threshold(self) -> float | None:
        return None

    @property
    def passage_seconds(self) -> float:
        """Seconds that embedding passages has taken so far."""
        return self._passage_seconds

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """See `Reranker.score`."""
        texts = [[well_formed(indexed_text(passage)) for passage in passages] for passages in candidates]
        matrices = self._tokens.queries([well_formed(query) for query in queries]) if queries else ()
        scores: list[list[float]] = []
        for start in range(0, len(queries), GROUP):
            group = texts[start : start + GROUP]
            passages = self._passages(dict.fromkeys(text for row in group for text in row))
            for query, row in zip(matrices[start : start + GROUP], group, strict=True):
                scores.append(maxsim(query, [passages[text] for text in row]))
        return scores

    def _passages(self, texts: Mapping[str, None]) -> dict[str, Vectors]:
        found = {text: self._kept[text] for text in texts if text in self._kept}
        for text in found:
            self._kept.move_to_end(text)
        new = [text for text in texts if text not in found]
        if new:
            started = time.perf_counter()
            for text, matrix in zip(new, self._tokens.passages(new), strict=True):
                found[text] = self._kept[text] = np.ascontiguousarray(matrix)
                self._kept_bytes += matrix.nbytes
            self._passage_seconds += time.perf_counter() - started
        while self._kept_bytes > self._cache_bytes:
            _, matrix = self._kept.popitem(last=False)
            self._kept_bytes -= matrix.nbytes
        return found


class StoredLateInteraction:
    """The same `Reranker` over an index that stores its passages' token vectors: only queries are embedded."""

    def __init__(self, index: Index, embedder: IndexEmbedder) -> None:
        self._engine = index.engine
        self._positions = {passage.passage_id: at for at, passage in enumerate(index.passages)}
        self._tokens = EmbedderTokens(embedder)

    @property
    def identity(self) -> Identity:
        return _identity(self._tokens.identity)

    @property
    def default_threshold(self) -> float | None:
        return None

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """See `Reranker.score`. Candidates are passages of the index."""
        matrices = self._tokens.queries([well_formed(query) for query in queries]) if queries else ()
        scores = []
        for query, passages in zip(matrices, candidates, strict=True):
            positions = [self._positions[passage.passage_id] for passage in passages]
            sums = self._engine.maxsim(query, positions) if len(query) else [0.0] * len(positions)
            scores.append([steady(score / max(len(query), 1)) for score in sums])
        return scores


def maxsim(query: Vectors, passages: Sequence[Vectors]) -> list[float]:
    """The score of each passage for one query, all given by their token vectors. See `LateInteraction`."""
    if not len(query):
        return [0.0] * len(passages)
    scores = [NO_TOKENS] * len(passages)
    filled = [place for place, matrix in enumerate(passages) if len(matrix)]
    if filled:
        lengths = [len(passages[place]) for place in filled]
        cosines = np.concatenate([passages[place] for place in filled]) @ query.T
        best = np.maximum.reduceat(cosines, np.cumsum([0, *lengths[:-1]]), axis=0)
        for place, score in zip(filled, best.mean(axis=1), strict=True):
            scores[place] = steady(float(score))
    return scores


def _identity(tokens: Identity) -> Identity:
    return {
        **tokens,
        "model": f"late_interaction/{tokens['model']}",
        "normalisation": "mean over query tokens",
        "passage_text": PASSAGE_TEXT,
    }


@runtime_checkable
class EncodesPassages(Protocol):
    """A reranker that encodes passages apart from queries, on first use, and keeps what it made."""

    @property
    def passage_seconds(self) -> float:
        """Seconds spent so far, inside `score`, on encoding passages; never falls."""
        ...


def seconds_on_passages(reranker: Reranker) -> float:
    """Seconds this reranker has spent so far on passages alone; 0 for one that reads pairs."""
    return reranker.passage_seconds if isinstance(reranker, EncodesPassages) else 0.0
