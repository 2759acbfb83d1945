"""Build an index in one piece, or open the one that is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from arena.errors import IndexMismatchError
from arena.types import Document
from indexing.assembly import SLICE, Pace, assemble, writing
from indexing.chunking import WHOLE_DOCUMENTS, Chunking
from indexing.embedding import IndexEmbedder
from indexing.engines.settings import EngineSettings
from indexing.integrity import damaged
from indexing.lock import unheard
from indexing.manifest import IndexManifest
from indexing.opening import Index, open_index, open_planned
from indexing.plan import IndexPlan, plan_index
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
    return root / plan_index(documents, embedder, engine, chunking).folder_name


def build_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    folder: Path,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = SLICE,
    progress: Progress = silent,
    tell: Callable[[str], None] = unheard,
) -> IndexManifest:
    """Embed the documents and leave a finished index at `folder`, replacing what was there.

    All work happens in a hidden sibling folder whose content is renamed at the end: an interrupted build leaves the
    old index or none. Passages are embedded `slice_size` at a time; what an interrupted build has embedded is lost
    unless the embedder keeps it, as one with a `CachedEncoder` does. What the old index keeps outside its folder is
    discarded where `engine` says that it lies. Raises `DatasetError` on an empty corpus, a repeated id or a text
    that is not Unicode, `WeightsError` when the model yields vectors that are not finite or of another width than it
    says, `ConfigError` when the folder cannot be written, or the old index cannot be discarded. Another process that
    writes this index is waited for; `tell` hears which one.
    """
    plan = plan_index(documents, embedder, engine, chunking)
    with writing(folder, tell) as work:
        return assemble(plan, embedder, folder, work, Pace(slice_size, progress))


def ensure_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    root: Path,
    *,
    engine: str | EngineSettings = "edge",
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = SLICE,
    thorough: bool = False,
    progress: Progress = silent,
    tell: Callable[[str], None] = unheard,
) -> Index:
    """The index of these documents under `root`, built first where it is missing or cannot be read.

    Its folder is named by its identity and, on a server, by where that is, so indexes of other corpora, settings and
    servers live beside it. What another process has just finished is opened, not built again. `thorough` reads
    every file of an index that is there, and builds it anew when one is damaged. Raises as `build_index` does.
    """
    plan = plan_index(documents, embedder, engine, chunking)
    folder = root / plan.folder_name
    index = _sound(folder, plan, thorough=thorough)
    if index is None:
        with writing(folder, tell) as work:
            index = _sound(folder, plan, thorough=thorough)  # may have been finished before we got the lock
            if index is None:
                assemble(plan, embedder, folder, work, Pace(slice_size, progress))
    return index or open_planned(folder, plan)


def _sound(folder: Path, plan: IndexPlan, *, thorough: bool) -> Index | None:
    """The planned index, open, if it is there and can be read; if `thorough`, only with every file whole."""
    try:
        index = open_planned(folder, plan)
    except IndexMismatchError:
        return None
    if thorough and damaged(folder, index.manifest.files):
        index.close()
        return None
    return index
