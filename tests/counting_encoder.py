"""An encoder without a model that remembers what it was asked. For tests of what stands before an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from arena.protocols import SparseVector
from indexing.embedding.embedder import Encoded, TimedEncoded


class CountingEncoder:
    """Three dimensions made of a text's characters; remembers what it was asked, in its batches."""

    dimension = 3

    def __init__(
        self, *, model: str = "counting", device: str = "cpu", batch_texts: int = 4, multi: bool = False
    ) -> None:
        self.identity: Mapping[str, str | int] = {"model": model, "multivectors": int(multi)}
        self.provenance: Mapping[str, str | int | float] = {"device": device}
        self.batch_texts = batch_texts
        self.multi = multi
        self.asked: list[list[str]] = []

    def count_truncated(self, texts: Sequence[str]) -> int:
        return 0

    def passages(self, texts: Sequence[str]) -> Encoded:
        if texts:
            self.asked.append(list(texts))
        dense = np.array([[len(text), sum(map(ord, text)) / 7, 1] for text in texts], np.float32).reshape(-1, 3)
        lexical = tuple(
            SparseVector((len(text),), (float(np.float32(1 / 3)),)) if text else SparseVector((), ()) for text in texts
        )
        multi = tuple(np.full((len(text), 2), 0.1, np.float32) for text in texts) if self.multi else None
        return Encoded(dense, lexical, multi)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        seconds = tuple(float(len(text)) for text in texts)
        return TimedEncoded(self.passages(texts), seconds, (False,) * len(texts))
