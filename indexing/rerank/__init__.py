"""A second look at the candidates of a query: cross-encoders, and late interaction where none can be had."""

from __future__ import annotations

from indexing.rerank.cross_encoders import FlagCrossEncoder, SentenceCrossEncoder
from indexing.rerank.late_interaction import EmbedderTokens, EncoderTokens, LateInteraction, StoredLateInteraction
from indexing.rerank.opening import open_reranker
from indexing.rerank.settings import (
    DEFAULT,
    CalibratedThreshold,
    RerankSettings,
    resolve_threshold,
    threshold_from,
)

__all__ = [
    "DEFAULT",
    "CalibratedThreshold",
    "EmbedderTokens",
    "EncoderTokens",
    "FlagCrossEncoder",
    "LateInteraction",
    "RerankSettings",
    "SentenceCrossEncoder",
    "StoredLateInteraction",
    "open_reranker",
    "resolve_threshold",
    "threshold_from",
]
