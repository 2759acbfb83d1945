"""Put an index together in a work folder, resuming what a killed build left there, and move it to its place."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.errors import ConfigError, UserError, WeightsError
from arena.protocols import Embedding, Vectors
from arena.types import Passage
from indexing.chunking import indexed_text
from indexing.embedding import IndexEmbedder
from indexing.engines import ENGINES, Engine
from indexing.integrity import stamps
from indexing.lock import only_writer
from indexing.manifest import IndexManifest, passages_fingerprint
from indexing.opening import SHARD
from indexing.plan import IndexPlan
from indexing.probes import sampled_positions, write_probes
from indexing.progress import Progress, silent
from indexing.spool import Spool

NEW, OLD, SPOOL = "new", "old", "spool"
SLICE = 256

Batch = tuple[Sequence[int], Embedding]
"""Positions of passages, and their vectors."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How a build goes about its work; nothing here changes the index.

    `slice_size`: passages embedded between two progress reports, and all that a kill can lose; a multiple of the
    embedder's batch size wastes nothing. `keep_batches`: keep on disk what is embedded until the build is done.
    """

    slice_size: int = SLICE
    keep_batches: bool = True
    progress: Progress = silent


def assemble(plan: IndexPlan, embedder: IndexEmbedder, folder: Path, pace: Pace) -> IndexManifest:
    """Leave the planned index at `folder`. See `indexing.build.build_index`."""
    try:
        with only_writer(folder) as work:
            return _assemble(plan, embedder, folder, work, pace)
    except OSError as error:
        raise ConfigError(
            f"cannot write an index to {str(folder)!r}: {error}; make room or choose another cache folder"
        ) from error


def _assemble(plan: IndexPlan, embedder: IndexEmbedder, folder: Path, work: Path, pace: Pace) -> IndexManifest:
    _clear(work, plan)
    spool = Spool(work / SPOOL, plan.identity.fingerprint) if pace.keep_batches else None
    in_place = False
    try:
        manifest = _write(plan, embedder, work / NEW, spool, pace)
        _put_in_place(work / NEW, folder, aside=work / OLD)
        in_place = True
    finally:
        _clear(work, plan)
        if in_place or not spool:
            shutil.rmtree(work, ignore_errors=True)
    return manifest


def _write(plan: IndexPlan, embedder: IndexEmbedder, folder: Path, spool: Spool | None, pace: Pace) -> IndexManifest:
    texts = [indexed_text(passage) for passage in plan.passages]
    fitted = embedder.fitted(texts)
    samples = _fill(folder, plan, fitted.sparse_idf, _batches(plan.passages, texts, fitted, spool, pace), pace.progress)
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
    passages: Sequence[Passage], texts: Sequence[str], embedder: IndexEmbedder, spool: Spool | None, pace: Pace
) -> Iterator[Batch]:
    """Every passage once: first what was embedded before, then slice by slice the rest.

    Longest texts first: batches are full, and the time left is never underestimated.
    """
    done: set[int] = set()
    for positions, embedding in spool.batches() if spool is not None else ():
        done.update(positions)
        yield positions, embedding
    order = sorted(set(range(len(texts))) - done, key=lambda position: (-len(texts[position]), position))
    for start in range(0, len(order), pace.slice_size):
        positions = order[start : start + pace.slice_size]
        embedding = embedder.embed_passages([texts[position] for position in positions])
        _check(embedding, [passages[position] for position in positions], embedder.dimension)
        if spool is not None:
            spool.keep(positions, embedding)
        yield positions, embedding


def _fill(folder: Path, plan: IndexPlan, idf: bool, batches: Iterable[Batch], progress: Progress) -> dict[int, Vectors]:
    """Leave a filled engine in `folder`; gives the dense vectors of a sample."""
    everything = len(plan.passages)
    sampled = sampled_positions(everything)
    samples: dict[int, Vectors] = {}
    done = 0
    engine: Engine | None = None
    try:
        for positions, embedding in batches:
            engine = engine or _create(folder, plan, idf, embedding)
            engine.add(positions, embedding)
            samples |= {at: row for at, row in zip(positions, embedding.dense, strict=True) if at in sampled}
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


def _clear(work: Path, plan: IndexPlan) -> None:
    """Remove what is neither an index nor of use to the next build."""
    for place in (work / NEW, work / OLD):
        if (place / SHARD).exists():
            with suppress(OSError, UserError):  # of another engine, or out of reach
                ENGINES[plan.engine.kind].discard(place / SHARD, settings=plan.engine)
        shutil.rmtree(place, ignore_errors=True)
