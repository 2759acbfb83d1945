"""Build an index in one piece, or open the one that is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.errors import IndexMismatchError
from arena.types import Document
from indexing.assembly import SLICE, Pace, assemble
from indexing.chunking import WHOLE_DOCUMENTS, Chunking
from indexing.embedding import IndexEmbedder
from indexing.engines.settings import EngineSettings
from indexing.integrity import damaged
from indexing.manifest import IndexManifest
from indexing.opening import Index, open_index, open_planned
from indexing.plan import plan_index
from indexing.progress import Progress, silent

__all__ = ["Index", "build_index", "ensure_index", "index_folder", "open_index"]


def index_folder(
    root: Path,
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
) -> Path:
    """Where `ensure_index` keeps the index of these documents and settings; it need not exist."""
    return root / plan_index(documents, embedder, engine, chunking).identity.fingerprint


def build_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    folder: Path,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = SLICE,
    keep_batches: bool = True,
    progress: Progress = silent,
) -> IndexManifest:
    """Embed the documents and leave a finished index at `folder`, replacing what was there.

    All work happens in a hidden sibling folder whose content is renamed at the end: an interrupted build leaves the
    old index or none. Passages are embedded `slice_size` at a time; unless `keep_batches` is off, as an embedder
    with a cache of its own may want, what an interrupted build has embedded is used by the next one of the same
    identity. Raises `DatasetError` on an empty corpus, a repeated id or a text that is not Unicode, `WeightsError`
    when the model yields vectors that are not finite or of another width than it says, `ConfigError` when
    another process writes this index or the folder cannot be written.
    """
    plan = plan_index(documents, embedder, engine, chunking)
    return assemble(plan, embedder, folder, Pace(slice_size, keep_batches, progress))


def ensure_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    root: Path,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = SLICE,
    keep_batches: bool = True,
    thorough: bool = False,
    progress: Progress = silent,
) -> Index:
    """The index of these documents under `root`, built first where it is missing or cannot be read.

    Its folder is named by its identity, so indexes of other corpora and settings live beside it. `thorough` reads
    every file of an index that is there, and builds it anew when one is damaged. Raises as `build_index` does.
    """
    plan = plan_index(documents, embedder, engine, chunking)
    folder = root / plan.identity.fingerprint
    try:
        index = open_planned(folder, plan)
    except IndexMismatchError:
        pass
    else:
        if not (thorough and damaged(folder, index.manifest.files)):
            return index
        index.close()
    assemble(plan, embedder, folder, Pace(slice_size, keep_batches, progress))
    return open_planned(folder, plan)
