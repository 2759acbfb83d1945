"""A second look at the candidates of a query: cross-encoders, and late interaction where none can be had."""

from __future__ import annotations

from indexing.rerank.cross_encoders import FlagCrossEncoder, SentenceCrossEncoder
from indexing.rerank.late_interaction import EmbedderTokens, EncoderTokens, LateInteraction, StoredLateInteraction
from indexing.rerank.opening import open_reranker, resolve_threshold

__all__ = [
    "EmbedderTokens",
    "EncoderTokens",
    "FlagCrossEncoder",
    "LateInteraction",
    "SentenceCrossEncoder",
    "StoredLateInteraction",
    "open_reranker",
    "resolve_threshold",
]
