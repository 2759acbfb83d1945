"""Text to the two lanes of the index.

An `Encoder` is a neural pass (bge-m3, any sentence-transformers model, either of them behind the cache); an
`IndexEmbedder` makes both lanes of it, with BM25 where the pass has no lexical weights. `open_embedder` builds one.
"""

from __future__ import annotations

from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.cache import CachedEncoder, EmbeddingCache
from indexing.embedding.embedder import (
    Encoded,
    Encoder,
    IndexEmbedder,
    LaneEmbedder,
    TimedQueries,
    embed_queries_timed,
)
from indexing.embedding.opening import open_embedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder

__all__ = [
    "BgeM3Encoder",
    "CachedEncoder",
    "EmbeddingCache",
    "Encoded",
    "Encoder",
    "IndexEmbedder",
    "LaneEmbedder",
    "SentenceTransformerEncoder",
    "TimedQueries",
    "embed_queries_timed",
    "open_embedder",
]
