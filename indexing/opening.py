"""Open an index that was built from exactly these documents with exactly these settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena.errors import IndexMismatchError
from arena.types import Document, Passage
from indexing.chunking import WHOLE_DOCUMENTS, Chunking
from indexing.embedding import IndexEmbedder
from indexing.engines import ENGINES, Engine
from indexing.engines.settings import EngineSettings
from indexing.integrity import damaged
from indexing.manifest import REBUILD, IndexManifest, passages_fingerprint, read_manifest
from indexing.plan import IndexPlan, plan_index

SHARD = "shard"


@dataclass(frozen=True, slots=True)
class Index:
    """An open index. `passages` are in id order: a position of the engine is a place in them."""

    manifest: IndexManifest
    passages: tuple[Passage, ...]
    engine: Engine

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_index(
    folder: Path,
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
) -> Index:
    """The index in `folder`, provided it was built from these documents with these settings.

    Raises `IndexMismatchError`, naming both values of every difference, otherwise; also when it cannot be read.
    Small files are hashed, large ones checked by size only: `verify_index` reads all. Any number of processes may
    open one index.
    """
    return open_planned(folder, plan_index(documents, embedder, engine, chunking))


def open_planned(folder: Path, plan: IndexPlan) -> Index:
    """See `open_index`."""
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
    return Index(manifest, plan.passages, open_engine(folder, manifest, plan.engine))


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
