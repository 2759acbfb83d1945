"""BM25 as a sparse lane: term weights here, inverse document frequencies in the engine.

A passage carries, for each of its terms, the saturated and length-normalised frequency

    tf * (k + 1) / (tf + k * (1 - b + b * length / average_length)),        k = 1.2, b = 0.75

and a query carries 1 for each of its terms; their product, weighted by the engine's idf over its own points,
ln(1 + (n - df + 0.5) / (df + 0.5)), is the BM25 score (Robertson and Zaragoza, 2009). `length` counts the terms
left after English stop words are dropped and the rest is stemmed.

Texts in Latin letters go to the engine's tokenizer as they are, in composed form. Others are first put into one form
that it can read (`arena.text.searchable`): pairs of characters for scripts that leave no space between words, and in
what is searched also each character, so that a query of one finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from arena.protocols import SparseVector
from arena.text import searchable

if TYPE_CHECKING:
    from qdrant_edge import Bm25 as EdgeBm25
    from qdrant_edge import SparseVector as EdgeSparseVector

K = 1.2
B = 0.75
LANGUAGE = "english"


class Bm25:
    """Texts to term vectors. Queries need no corpus; passages need its average length: see `fitted`."""

    def __init__(self, average_terms: float | None = None) -> None:
        self.average_terms = average_terms
        self._model = _model(b=B, average_terms=average_terms or 1.0)

    @property
    def identity(self) -> str:
        """Every constant that can change a weight; the average length follows from the corpus."""
        return f"k={K} b={B} language={LANGUAGE} average_length=corpus"

    def fitted(self, texts: Sequence[str]) -> Bm25:
        """The same lane with the average length of this corpus; 1 where no text has a term."""
        counts = _model(b=0.0, average_terms=1.0)
        terms = sum(_length(counts.embed_document(searchable(text, singles=True))) for text in texts)
        return Bm25(terms / len(texts) if terms else 1.0)

    def passages(self, texts: Sequence[str]) -> tuple[SparseVector, ...]:
        """Weights of indexed texts; raises `ValueError` before `fitted`."""
        if self.average_terms is None:
            raise ValueError("BM25 needs the average passage length of the corpus: call fitted(texts) first")
        return tuple(_vector(self._model.embed_document(searchable(text, singles=True))) for text in texts)

    def queries(self, texts: Sequence[str]) -> tuple[SparseVector, ...]:
        """Weight 1 for each distinct term of a query; empty when only stop words are left."""
        return tuple(_vector(self._model.embed_query(searchable(text, singles=False))) for text in texts)


def words_identity(texts: Iterable[str]) -> dict[str, str]:
    """What tells an index from one made before other scripts were read: nothing, if none of the texts is affected."""
    if all(searchable(text, singles=True) == text for text in texts):
        return {}
    return {"words": "pairs of characters in scripts without spaces, NFKC"}


def _model(*, b: float, average_terms: float) -> EdgeBm25:
    import qdrant_edge

    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=K, b=b, avg_len=average_terms, language=LANGUAGE))


def _vector(vector: EdgeSparseVector) -> SparseVector:
    return SparseVector(tuple(vector.indices), tuple(vector.values))


def _length(weights: EdgeSparseVector) -> int:
    """Number of terms behind weights made with b = 0, where a weight is tf * (k + 1) / (tf + k).

    The tokenizer does not say how many terms it kept, so the formula is solved for tf.
    """
    return sum(round(weight * K / (K + 1 - weight)) for weight in weights.values)
