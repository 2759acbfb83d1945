"""Open an index that was built from exactly these documents with exactly these settings.

A plan says what the index is to be: checked documents, cut into passages, and the identity that follows from the
settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena.errors import DatasetError, IndexMismatchError
from arena.identity import canonical_json, short_hash
from arena.types import Document, Passage
from indexing.bm25 import words_identity
from indexing.chunking import Chunking, indexed_text, passages_of
from indexing.embedding.embedder import IndexEmbedder
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import MEMORY, EngineSettings
from indexing.manifest import (
    REBUILD,
    IndexIdentity,
    IndexManifest,
    corpus_fingerprint,
    damaged,
    passages_fingerprint,
    read_manifest,
)


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
        return f"{self.identity.fingerprint}-{short_hash(canonical_json(place, ascii_only=True), 8)}"


def plan_index(
    documents: Sequence[Document], embedder: IndexEmbedder, engine: EngineSettings, chunking: Chunking
) -> IndexPlan:
    """The plan of an index. Cheap but for the tokens of a chunking.

    Raises `DatasetError` on an empty corpus, a repeated id, or a text that is not Unicode.
    """
    _check(documents)
    passages = passages_of(documents, chunking)
    identity = IndexIdentity(
        corpus=corpus_fingerprint(documents),
        chunking=dict(chunking.identity),
        embedder=embedder_identity(embedder, passages),
        dimension=embedder.dimension,
        engine=engine.kind,
        engine_version=ENGINES[engine.kind].version(),
        search=engine.identity(len(passages)),
    )
    return IndexPlan(len(documents), passages, engine, identity)


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


SHARD = "shard"


@dataclass(frozen=True, slots=True)
class Index:
    """An open index. `passages` are in id order: a position of the engine is a place in them."""

    folder: Path
    manifest: IndexManifest
    passages: tuple[Passage, ...]
    engine: Engine

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_index(folder: Path, plan: IndexPlan) -> Index:
    """The index in `folder`, provided it is the planned one.

    Raises `IndexMismatchError`, naming both values of every difference, otherwise; also when it cannot be read.
    Small files are hashed, large ones checked by size only: `verify_index` reads all. Any number of processes may
    open one index.
    """
    manifest = read_manifest(folder)
    name = repr(str(folder))
    differences = manifest.identity.differences(plan.identity)
    if differences:
        raise IndexMismatchError(f"the index in {name} is another one: {'; '.join(differences)}; {REBUILD}")
    cut = passages_fingerprint(plan.passages)
    if cut != manifest.passages_fingerprint:
        raise IndexMismatchError(
            f"the index in {name} was cut into other passages: {manifest.passages_fingerprint} "
            f"({manifest.passages}), now {cut} ({len(plan.passages)}); {REBUILD}"
        )
    problems = damaged(folder, manifest.files, quick=True)
    if problems:
        raise IndexMismatchError(f"{problems[0]}; {REBUILD}")
    return Index(folder, manifest, plan.passages, open_engine(folder, manifest, plan.engine))


def open_engine(folder: Path, manifest: IndexManifest, settings: EngineSettings) -> Engine:
    """The engine of an index whose files are whole. Raises `IndexMismatchError` when it lost points."""
    try:
        engine = ENGINES[settings.kind].load(folder / SHARD, settings=settings)
    except OSError as error:
        raise IndexMismatchError(f"{error}; {REBUILD}") from error
    if (found := engine.count()) != manifest.passages:
        engine.close()
        raise IndexMismatchError(
            f"the index in {str(folder)!r} holds {found} of its {manifest.passages} passages; {REBUILD}"
        )
    return engine
