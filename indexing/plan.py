"""What an index is to be: checked documents, cut into passages, and the identity that follows from the settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import DatasetError
from arena.types import Document, Passage
from indexing.bm25 import words_identity
from indexing.chunking import Chunking, indexed_text, passages_of
from indexing.embedding import IndexEmbedder
from indexing.engines import ENGINES
from indexing.engines.settings import MEMORY, EngineSettings
from indexing.manifest import IndexIdentity, corpus_fingerprint


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """A corpus as `passages` in id order, the engine that is to hold them, and the identity of the index."""

    documents: int
    passages: tuple[Passage, ...]
    engine: EngineSettings
    identity: IndexIdentity

    @property
    def folder_name(self) -> str:
        """Where the index belongs among others: its identity and, for points that lie elsewhere, the place."""
        url, path = self.engine.url, self.engine.path
        if not (url or path):
            return self.identity.fingerprint
        place = [url and url.rstrip("/"), path if path in (None, MEMORY) else str(Path(path).resolve())]
        return f"{self.identity.fingerprint}-{hashlib.sha256(json.dumps(place).encode()).hexdigest()[:8]}"


def plan_index(
    documents: Sequence[Document], embedder: IndexEmbedder, engine: str | EngineSettings, chunking: Chunking
) -> IndexPlan:
    """The plan of an index. Cheap but for the tokens of a chunking.

    Raises `DatasetError` on an empty corpus, a repeated id, or a text that is not Unicode, `UnknownNameError` for
    an engine that does not exist.
    """
    settings = EngineSettings(engine) if isinstance(engine, str) else engine
    _check(documents)
    passages = passages_of(documents, chunking)
    identity = IndexIdentity(
        corpus=corpus_fingerprint(documents),
        chunking=dict(chunking.identity),
        embedder=embedder_identity(embedder, passages),
        dimension=embedder.dimension,
        engine=settings.kind,
        engine_version=ENGINES[settings.kind].version(),
        search=settings.identity(len(passages)),
    )
    return IndexPlan(len(documents), passages, settings, identity)


def embedder_identity(embedder: IndexEmbedder, passages: Sequence[Passage]) -> dict[str, object]:
    """Who embeds, and by what rule words are told apart where the corpus holds texts that ask for one."""
    words = words_identity(indexed_text(passage) for passage in passages) if embedder.sparse_idf else {}
    return {**embedder.identity, **words}


def _check(documents: Sequence[Document]) -> None:
    if not documents:
        raise DatasetError("the corpus is empty: an index needs at least one document")
    seen: set[str] = set()
    for document in documents:
        if document.doc_id in seen:
            raise DatasetError(f"document id {document.doc_id!r} occurs twice: ids must be unique in a corpus")
        seen.add(document.doc_id)
