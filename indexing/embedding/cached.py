"""An encoder that embeds no text twice: what it made is kept on disk, across runs, corpora and engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from indexing.embedding.encoder import Encoded, Encoder, Identity, Provenance, TimedEncoded, require_finite
from indexing.embedding.payload import Kept
from indexing.embedding.store import EmbeddingCache

PASSAGE = "passage"


class CachedEncoder:
    """An `Encoder` before another one. Bits are those of the first embedding, also for texts that come again.

    New passages are embedded longest first and kept after each batch of `batch_texts`, so a kill costs one batch.
    Numbers that are not finite are never kept: `WeightsError` names the text, and the next process tries it again.
    Queries are kept with the seconds they took, and for each kind of device apart: a time of one
    device says nothing about another.
    """

    def __init__(self, encoder: Encoder, root: Path) -> None:
        """Keep vectors in a file under `root`. Raises `ConfigError` when it cannot be opened."""
        self._encoder = encoder
        self._cache = EmbeddingCache(root, encoder.identity)
        device, _, _ = str(encoder.provenance["device"]).replace(",", ":").partition(":")
        self._query_kind = f"query on {device}"

    @property
    def identity(self) -> Identity:
        return self._encoder.identity

    @property
    def provenance(self) -> Provenance:
        return self._encoder.provenance

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def batch_texts(self) -> int:
        return self._encoder.batch_texts

    def count_truncated(self, texts: Sequence[str]) -> int:
        return self._encoder.count_truncated(texts)

    def close(self) -> None:
        """Close the cache's file; the next use opens it again."""
        self._cache.close()

    def passages(self, texts: Sequence[str]) -> Encoded:
        kept = self._cache.get(PASSAGE, texts)
        for batch in self._batches(texts, kept):
            encoded = require_finite(self._encoder.passages(batch), batch, self.identity)
            fresh = _entries(batch, encoded, (0.0,) * len(batch))
            self._cache.put(PASSAGE, fresh)
            kept |= fresh
        return self._together(texts, kept)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        kept = self._cache.get(self._query_kind, texts)
        known = tuple(text in kept for text in texts)
        for batch in self._batches(texts, kept):
            timed = self._encoder.queries(batch)
            require_finite(timed.encoded, batch, self.identity)
            fresh = _entries(batch, timed.encoded, timed.seconds)
            self._cache.put(self._query_kind, fresh)
            kept |= fresh
        return TimedEncoded(self._together(texts, kept), tuple(kept[text].seconds for text in texts), known)

    def _batches(self, texts: Sequence[str], kept: Mapping[str, Kept]) -> Iterator[list[str]]:
        new = sorted((text for text in dict.fromkeys(texts) if text not in kept), key=lambda text: -len(text))
        return (new[start : start + self.batch_texts] for start in range(0, len(new), self.batch_texts))

    def _together(self, texts: Sequence[str], kept: Mapping[str, Kept]) -> Encoded:
        if not texts:
            return self._encoder.passages([])
        entries = [kept[text] for text in texts]
        lexical = [entry.lexical for entry in entries if entry.lexical is not None]
        multi = [entry.multi for entry in entries if entry.multi is not None]
        return Encoded(
            np.stack([entry.dense for entry in entries]),
            tuple(lexical) if len(lexical) == len(entries) else None,
            tuple(multi) if len(multi) == len(entries) else None,
        )


def _entries(texts: Sequence[str], encoded: Encoded, seconds: Sequence[float]) -> dict[str, Kept]:
    lexical = encoded.lexical or (None,) * len(texts)
    multi = encoded.multi or (None,) * len(texts)
    rows = zip(texts, encoded.dense, lexical, multi, seconds, strict=True)
    return {text: Kept(dense, terms, matrix, took) for text, dense, terms, matrix, took in rows}
