"""Build an index in one piece, or open the one that is there.

It is put together in a work folder, and moved to its place when it is whole.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from arena.errors import ConfigError, IndexMismatchError, UserError, WeightsError, storage_advice
from arena.protocols import Embedding, Vectors
from arena.types import Document, Passage
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, indexed_text
from indexing.embedding.embedder import IndexEmbedder
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import EDGE, EngineSettings
from indexing.files import Progress, only_writer, silent, unheard
from indexing.manifest import IndexManifest, damaged, passages_fingerprint, sampled_positions, stamps, write_probes
from indexing.opening import SHARD, Index, IndexPlan, open_index, plan_index

NEW, OLD = "new", "old"
SLICE = 256
EMPTY_BYTES = 150_000_000
"""What the engine sets aside for an index of any size; measured: 156 to 175 MB with a few hundred passages."""

Batch = tuple[Sequence[int], Embedding]
"""Positions of passages, and their vectors."""


@contextmanager
def writing(folder: Path, tell: Callable[[str], None] = unheard) -> Iterator[Path]:
    """Be the only process that writes the index at `folder`; gives the work folder. See `only_writer`.

    Raises `ConfigError` where files cannot be written.
    """
    try:
        with only_writer(folder, tell=tell) as work:
            yield work
    except OSError as error:
        raise ConfigError(f"cannot write an index to {str(folder)!r}: {error}; {storage_advice(error)}") from error


def assemble(
    plan: IndexPlan, embedder: IndexEmbedder, folder: Path, work: Path, slice_size: int, progress: Progress
) -> IndexManifest:
    """Leave the planned index at `folder`, for the one who is `writing` it, replacing what was there.

    All happens in `work`, whose content is renamed at the end: an interrupted build leaves the old index or none.
    Passages are embedded `slice_size` at a time (a multiple of the embedder's batch size wastes nothing); what an
    interrupted build has embedded is lost unless the embedder keeps it, as one with a `CachedEncoder` does. What the
    old index keeps outside its folder is discarded where the plan's engine says that it lies. Raises `WeightsError`
    when the model yields vectors that are not finite or of another width than it says, `ConfigError` when the old
    index cannot be discarded, `OSError`.
    """
    _clear(work, plan.engine)
    _check_space(plan, embedder.dimension, work)
    try:
        manifest = _write(plan, embedder, work / NEW, slice_size, progress)
        _put_in_place(work / NEW, folder, aside=work / OLD)
    except BaseException:
        with suppress(ConfigError):  # it stays where it is, and the next build tries again
            _clear(work, plan.engine)
        raise
    _clear(work, plan.engine)
    return manifest


def _check_space(plan: IndexPlan, dimension: int, work: Path) -> None:
    """Refuse what cannot fit: the engine maps its files into memory, and a full disk would kill it without a word."""
    if plan.engine.kind != "edge":
        return  # its points lie elsewhere
    needed = EMPTY_BYTES + len(plan.passages) * dimension * 4
    free = shutil.disk_usage(work).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"it takes {needed / 1e6:,.0f} MB at least, and {free / 1e6:,.0f} MB are free")


def _write(
    plan: IndexPlan, embedder: IndexEmbedder, folder: Path, slice_size: int, progress: Progress
) -> IndexManifest:
    texts = [indexed_text(passage) for passage in plan.passages]
    fitted = embedder.fitted(texts)
    batches = _batches(plan.passages, texts, fitted, slice_size)
    samples = _fill(folder, plan, fitted.sparse_idf, batches, progress)
    # The first load tidies the files up; from then on they stay as they are.
    engine = ENGINES[plan.engine.kind].load(folder / SHARD, settings=plan.engine)
    try:
        recall = write_probes(folder, engine, samples, graph=plan.engine.uses_graph(len(texts)))
    finally:
        engine.close()
    manifest = IndexManifest(
        identity=plan.identity,
        documents=plan.documents,
        passages=len(texts),
        passages_fingerprint=passages_fingerprint(plan.passages),
        empty_passages=sum(not text.strip() for text in texts),
        truncated_passages=fitted.count_truncated(texts),
        recall_at_10=recall,
        provenance=dict(fitted.provenance),
        files=stamps(folder),
    )
    manifest.write(folder)
    return manifest


def _batches(
    passages: Sequence[Passage], texts: Sequence[str], embedder: IndexEmbedder, slice_size: int
) -> Iterator[Batch]:
    """Every passage once, slice by slice. Longest texts first: batches are full, the time left never underestimated."""
    order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), position))
    for start in range(0, len(order), slice_size):
        positions = order[start : start + slice_size]
        embedding = embedder.embed_passages([texts[position] for position in positions])
        _check(embedding, [passages[position] for position in positions], embedder.dimension)
        yield positions, embedding


def _fill(folder: Path, plan: IndexPlan, idf: bool, batches: Iterable[Batch], progress: Progress) -> dict[int, Vectors]:
    """Leave a filled engine in `folder`; gives the dense vectors of a sample."""
    everything = len(plan.passages)
    sampled = sampled_positions(everything, graph=plan.engine.uses_graph(everything))
    samples: dict[int, Vectors] = {}
    done = 0
    engine: Engine | None = None
    try:
        for positions, embedding in batches:
            engine = engine or _create(folder, plan, idf, embedding)
            engine.add(positions, embedding)
            # Copies: a view would keep its whole slice in memory.
            samples |= {at: row.copy() for at, row in zip(positions, embedding.dense, strict=True) if at in sampled}
            done += len(positions)
            progress(done, everything, "passages embedded")
        if engine:
            engine.flush()
    finally:
        if engine:
            engine.close()
    return samples


def _create(folder: Path, plan: IndexPlan, idf: bool, first: Embedding) -> Engine:
    folder.mkdir()
    return ENGINES[plan.engine.kind].create(
        folder / SHARD,
        plan.identity.dimension,
        idf=idf,
        multi_dimension=first.multi[0].shape[1] if first.multi else None,
        distance=str(plan.identity.embedder.get("distance", "cosine")),
        settings=plan.engine,
    )


def _check(embedding: Embedding, passages: Sequence[Passage], dimension: int) -> None:
    """Raise `WeightsError` on vectors by which an engine would never find their passages again."""
    broken = "the embedding model is broken"
    if embedding.dense.shape != (len(passages), dimension):
        raise WeightsError(
            f"{broken}: vectors of shape {embedding.dense.shape}, not {(len(passages), dimension)}; "
            "fetch or choose another one"
        )
    for passage, dense, sparse in zip(passages, embedding.dense, embedding.sparse, strict=True):
        if not (np.isfinite(dense).all() and all(map(math.isfinite, sparse.values))):
            raise WeightsError(
                f"{broken}: its vector of passage {passage.passage_id!r} is not finite; "
                "try dtype float32, or fetch or choose another one"
            )


def _put_in_place(new: Path, folder: Path, aside: Path) -> None:
    """Rename `new` to `folder`; what was there is moved aside first, because a rename cannot replace a full folder."""
    replaces = folder.exists()
    if replaces:
        os.replace(folder, aside)
    try:
        os.replace(new, folder)
    except OSError:
        if replaces:
            os.replace(aside, folder)
        raise


def _clear(work: Path, engine: EngineSettings) -> None:
    """Remove what an earlier or a failed build left, and the index that was replaced.

    What lies outside goes first. Raises `ConfigError` when it cannot be removed: the folder that points to it stays.
    """
    for place in (work / NEW, work / OLD):
        if place.is_symlink():  # what it points to was prepared elsewhere, and stays
            place.unlink()
            continue
        if (place / SHARD).exists() and (engine.url or engine.path):
            _discard(place, engine)
        shutil.rmtree(place, ignore_errors=True)


def _discard(place: Path, engine: EngineSettings) -> None:
    try:
        ENGINES[engine.kind].discard(place / SHARD, settings=engine)
    except FileNotFoundError:
        pass  # of an engine that keeps nothing elsewhere
    except (OSError, UserError) as error:
        raise ConfigError(
            f"cannot remove the collection of an index that is no longer wanted: {error}; {str(place)!r} points to it: "
            "build again when it can be reached, or delete both by hand"
        ) from error


def ensure_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    root: Path,
    *,
    engine: EngineSettings = EDGE,
    chunking: Chunking = WHOLE_DOCUMENTS,
    slice_size: int = SLICE,
    thorough: bool = False,
    progress: Progress = silent,
    tell: Callable[[str], None] = unheard,
) -> Index:
    """The index of these documents under `root`, built first where it is missing or cannot be read.

    Its folder is named by its identity and, on a server, by where that is, so indexes of other corpora, settings and
    servers live beside it. Another process that writes this index is waited for, and what it has finished is opened,
    not built again; `tell` hears which one. `thorough` reads every file of an index that is there, and builds it anew
    when one is damaged. Raises as `plan_index`, `writing` and `assemble` do.
    """
    plan = plan_index(documents, embedder, engine, chunking)
    folder = root / plan.folder_name
    index = _sound(folder, plan, thorough=thorough)
    if index is None:
        with writing(folder, tell) as work:
            index = _sound(folder, plan, thorough=thorough)  # may have been finished before we got the lock
            if index is None:
                assemble(plan, embedder, folder, work, slice_size, progress)
    return index or open_index(folder, plan)


def _sound(folder: Path, plan: IndexPlan, *, thorough: bool) -> Index | None:
    """The planned index, open, if it is there and can be read; if `thorough`, only with every file whole."""
    try:
        index = open_index(folder, plan)
    except IndexMismatchError:
        return None
    if thorough and damaged(folder, index.manifest.files):
        index.close()
        return None
    return index
