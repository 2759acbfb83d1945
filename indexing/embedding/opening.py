"""From settings to an embedder: find the weights, load the model when it is needed, put the cache before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict

from arena.config.settings import EmbeddingConfig
from arena.errors import WeightsError
from arena.files import read_json, write_whole
from arena.identity import canonical_json, short_hash
from arena.types import well_formed
from indexing import devices
from indexing.bm25 import Bm25
from indexing.devices import chosen_devices, device_kind, folder_identity
from indexing.embedding import bge_m3, embedder, sentence_transformer
from indexing.embedding.bge_m3 import BgeM3Encoder, is_bge_m3
from indexing.embedding.cache import CachedEncoder
from indexing.embedding.embedder import (
    Encoded,
    Encoder,
    Identity,
    IndexEmbedder,
    LaneEmbedder,
    Provenance,
    TimedEncoded,
)
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder
from indexing.files import Progress, silent
from indexing.weights import locate

NAMED: Mapping[str, str] = {
    "minilm": "all-minilm-l6-v2",
    "all-minilm-l6-v2": "all-minilm-l6-v2",
    "bge-m3": "bge-m3",
}
"""Names of the pinned weights of embedding models."""

_LIBRARIES = ("torch", "transformers", "sentence-transformers", "FlagEmbedding")
_OWN = (bge_m3, devices, embedder, sentence_transformer)
"""Whose code says what an encoder's identity is."""


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
    if cache_root is None:
        return LaneEmbedder(kind(folder, settings, name=name), bm25)
    facts = f"{_known_by(kind.__name__, folder, settings, name)}.json"
    encoder = LateEncoder(lambda: kind(folder, settings, name=name), cache_root / facts)
    if any(device_kind(device) != "cpu" for device in settings.devices or ()):
        encoder.open()  # whether there is such a device, only the library can tell
    if not cached:
        return LaneEmbedder(encoder, bm25)
    known = CachedEncoder(encoder, cache_root)
    if not known.knows(map(well_formed, queries)):
        encoder.open()  # what is wrong with it shows before the first question, and no question waits for it
    return LaneEmbedder(known, bm25)


class _Facts(BaseModel):
    """What a model said of itself when it was open; see `Encoder`. `truncated`: by the SHA-256 of the texts counted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    identity: dict[str, str | int]
    provenance: dict[str, str | int | float]
    dimension: int
    batch_texts: int
    truncated: dict[str, int] = {}


class LateEncoder:
    """An `Encoder` whose model is opened by the first text to be encoded. Before, it is what it was when last opened.

    That is in a file whose name holds all that decides it (`_known_by`); without the file the model is opened at once.
    """

    def __init__(self, opening: Callable[[], Encoder], place: Path) -> None:
        """`opening` opens the model. Raises as that does."""
        self._opening, self._place = opening, place
        self._encoder: Encoder | None = None
        self._turn = Lock()
        try:
            self._facts = _Facts.model_validate(read_json(place))
        except (OSError, ValueError):
            self._facts = self._learnt()

    def open(self) -> Encoder:
        """The model, opened if it was not yet. Raises `WeightsError` where it is not what it is known as."""
        with self._turn:
            if self._encoder is None and (found := self._learnt()).identity != self._facts.identity:
                self._place.unlink(missing_ok=True)
                raise WeightsError(
                    f"the embedding model is {found.identity!r}, and was {self._facts.identity!r} when it was opened "
                    "last: run again"
                )
            assert self._encoder is not None
            return self._encoder

    def _learnt(self) -> _Facts:
        self._encoder = one = self._opening()
        facts = _Facts(
            identity=dict(one.identity),
            provenance=dict(one.provenance),
            dimension=one.dimension,
            batch_texts=one.batch_texts,
        )
        self._note(facts)
        return facts

    def _note(self, facts: _Facts) -> None:
        with suppress(OSError):  # a cache that cannot be written is named by the vectors' file
            self._place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._place, json.dumps(facts.model_dump()), shared=True)

    @property
    def identity(self) -> Identity:
        return self._facts.identity

    @property
    def provenance(self) -> Provenance:
        return self._encoder.provenance if self._encoder else self._facts.provenance

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
            self._note(self._facts)
        return self._facts.truncated[digest]


def _known_by(kind: str, folder: Path, settings: EmbeddingConfig, name: str) -> str:
    """A name for all that an encoder's identity follows from: files, settings, devices, libraries and our own code."""
    decisive: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "files": folder_identity(folder, trust_remote_code=settings.trust_remote_code),
        "settings": settings.model_dump() | {"model": ""},  # a path says nothing
        "devices": chosen_devices(settings.devices),
        "libraries": {library: _version(library) for library in _LIBRARIES},
        "code": [hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest() for module in _OWN],
    }
    return short_hash(canonical_json(decisive, ascii_only=True))


def _version(library: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(library)
    return None
