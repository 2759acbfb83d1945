"""From settings to an embedder: find the weights, load the model when it is needed, put the cache before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from arena.config.settings import EmbeddingConfig
from arena.types import well_formed
from indexing.bm25 import Bm25
from indexing.embedding.bge_m3 import BgeM3Encoder, is_bge_m3
from indexing.embedding.cache import CachedEncoder
from indexing.embedding.embedder import Encoded, Encoder, IndexEmbedder, LaneEmbedder, Provenance, TimedEncoded
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.files import Progress, silent
from indexing.late import Late, ModelFacts, names_gpu, note_of
from indexing.weights import locate

NAMED: Mapping[str, str] = {
    "minilm": "all-minilm-l6-v2",
    "all-minilm-l6-v2": "all-minilm-l6-v2",
    "bge-m3": "bge-m3",
}
"""Names of the pinned weights of embedding models."""


def open_embedder(
    settings: EmbeddingConfig,
    weights_root: Path,
    progress: Progress = silent,
    *,
    cache_root: Path | None = None,
    cached: bool = True,
    queries: Iterable[str] = (),
) -> IndexEmbedder:
    """The embedder of these settings; its weights are fetched into `weights_root` on first use.

    A folder with bge-m3's heads is run as bge-m3, any other as a sentence-transformers model with BM25 as its sparse
    lane. Vectors are kept under `cache_root` if `cached`, and what the model is; None keeps nothing. A model that is
    known there is opened when a text is to be encoded whose vector is not, and now where one of `queries` is such a
    text. Raises `WeightsError` when the weights cannot be had, `UnknownNameError` for a name that is none,
    `ConfigError` for a setting that does not fit the model.
    """
    folder, name = locate(settings, "embedding", NAMED, weights_root, progress)
    bge = is_bge_m3(folder)
    bm25 = None if bge else Bm25()
    kind = BgeM3Encoder if bge else SentenceTransformerEncoder
    opening = partial(kind, folder, settings, name=name)
    if cache_root is None:
        return LaneEmbedder(opening(), bm25)
    encoder = LateEncoder(opening, note_of(cache_root, folder, settings, kind.__name__, name))
    if names_gpu(settings):
        encoder.open()
    if not cached:
        return LaneEmbedder(encoder, bm25)
    known = CachedEncoder(encoder, cache_root)
    if not known.knows(map(well_formed, queries)):
        encoder.open()  # what is wrong with it shows before the first question, and no question waits for it
    return LaneEmbedder(known, bm25)


class EncoderFacts(ModelFacts):
    """See `Encoder`. `truncated`: by the SHA-256 of the texts counted."""

    provenance: dict[str, str | int | float]
    dimension: int
    batch_texts: int
    truncated: dict[str, int] = Field(default_factory=dict)


class LateEncoder(Late[Encoder, EncoderFacts]):
    """An `Encoder` whose model is opened by the first text to be encoded."""

    _kind = EncoderFacts

    @property
    def provenance(self) -> Provenance:
        return self._model.provenance if self._model else self._facts.provenance

    @property
    def dimension(self) -> int:
        return self._facts.dimension

    @property
    def batch_texts(self) -> int:
        return self._facts.batch_texts

    def passages(self, texts: Sequence[str]) -> Encoded:
        return self.open().passages(texts)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        return self.open().queries(texts)

    def count_truncated(self, texts: Sequence[str]) -> int:
        digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
        if digest not in self._facts.truncated:
            counted = self._facts.truncated | {digest: self.open().count_truncated(texts)}
            self._facts = self._facts.model_copy(update={"truncated": counted})
            self._keep(self._facts)
        return self._facts.truncated[digest]
