"""A cross-encoder as the judge of texts: the scores of a reranker, question by question."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from arena.protocols import Reranker
from arena.types import Passage


class RerankerEvaluator:
    """An `Evaluator` over a `Reranker` that reads any text; scores are on that reranker's own scale."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._reranker.identity

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Evaluator.score`. One caller at a time, the others wait."""
        passages = [Passage(str(place), str(place), "", text, 0, len(text)) for place, text in enumerate(texts)]
        with self._turn:
            (scores,) = self._reranker.score([question], [passages])
        return scores
