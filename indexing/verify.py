"""What an index on disk is, and whether it still is what its manifest says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.errors import IndexMismatchError
from arena.types import Document, Passage
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, indexed_text, passages_of
from indexing.embedding.embedder import IndexEmbedder
from indexing.engines import ENGINES
from indexing.engines.ranking import EngineSettings
from indexing.manifest import (
    MANIFEST,
    IndexManifest,
    corpus_fingerprint,
    damaged,
    lost_passages,
    passages_fingerprint,
    read_manifest,
    read_probes,
)
from indexing.opening import embedder_identity, open_engine

SAME = 0.999  # least cosine of two embeddings of one text, on whatever device and in whatever batch


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """A finished index: where it is, what it holds and how it was made, bytes taken on disk."""

    folder: Path
    manifest: IndexManifest
    disk_bytes: int


def index_info(folder: Path) -> IndexInfo:
    """Facts about the index in `folder`, from its manifest. Raises `IndexMismatchError` when there is none."""
    return IndexInfo(folder, read_manifest(folder), _disk_bytes(folder))


def list_indexes(root: Path) -> tuple[IndexInfo, ...]:
    """Every readable index under `root`, by folder name."""
    found = []
    for manifest in sorted(root.glob(f"*/{MANIFEST}")):
        try:
            found.append(index_info(manifest.parent))
        except IndexMismatchError:
            continue  # of an older release, or damaged: the next build of the same name replaces it
    return tuple(found)


def verify_index(
    folder: Path,
    documents: Sequence[Document],
    *,
    chunking: Chunking = WHOLE_DOCUMENTS,
    embedder: IndexEmbedder | None = None,
    engine: EngineSettings | None = None,
) -> list[str]:
    """Everything that is wrong with the index in `folder`, one line each; empty for a sound one.

    Corpus, passages and counts are worked out anew, every file is hashed, and sampled points must find their
    passages. With an `embedder` its identity is compared too, and the samples are embedded again. `engine` is how
    to reach the index's engine, where that takes more than its files; its search settings are compared.
    """
    try:
        manifest = read_manifest(folder)
    except IndexMismatchError as error:
        return [str(error)]
    passages = passages_of(documents, chunking)
    problems = _differences(manifest, passages, _wanted(documents, passages, chunking, embedder, engine))
    if manifest.identity.engine not in ENGINES:
        return [*problems, f"no engine {manifest.identity.engine!r} is installed that could read it"]
    damage = damaged(folder, manifest.files)
    if damage:  # an engine may answer wrongly or crash on damaged files rather than complain
        return problems + damage
    problems += _engine_problems(folder, manifest, passages, engine or EngineSettings(manifest.identity.engine))
    if embedder is not None and not problems:
        problems += _vector_problems(folder, passages, embedder)
    return problems


def _wanted(
    documents: Sequence[Document],
    passages: Sequence[Passage],
    chunking: Chunking,
    embedder: IndexEmbedder | None,
    engine: EngineSettings | None,
) -> dict[str, object]:
    """As much of an `IndexIdentity` as can be said."""
    wanted: dict[str, object] = {"corpus": corpus_fingerprint(documents), "chunking": dict(chunking.identity)}
    if embedder is not None:
        wanted |= {"embedder": embedder_identity(embedder, passages), "dimension": embedder.dimension}
    if engine is not None:
        wanted |= {
            "engine": engine.kind,
            "engine_version": ENGINES[engine.kind].version(),
            "search": engine.identity(len(passages)),
        }
    return wanted


def _differences(manifest: IndexManifest, passages: Sequence[Passage], wanted: dict[str, object]) -> list[str]:
    derived = {
        "documents": len({passage.doc_id for passage in passages}),
        "passages": len(passages),
        "passages_fingerprint": passages_fingerprint(passages),
        "empty_passages": sum(not indexed_text(passage).strip() for passage in passages),
    }
    counted = [
        f"{name} is {stated!r}, but is found to be {found!r}"
        for name, found in derived.items()
        if (stated := getattr(manifest, name)) != found
    ]
    return manifest.identity.differences(manifest.identity.model_copy(update=wanted)) + counted


def _engine_problems(
    folder: Path, manifest: IndexManifest, passages: Sequence[Passage], settings: EngineSettings
) -> list[str]:
    try:
        engine = open_engine(folder, manifest, settings)
    except IndexMismatchError as error:
        return [str(error)]
    try:
        lost = lost_passages(folder, engine)
    finally:
        engine.close()
    names = [passages[at].passage_id if at < len(passages) else f"number {at}" for at in lost]
    return [f"passage {name!r} is not found by its own vector" for name in names]


def _vector_problems(folder: Path, passages: Sequence[Passage], embedder: IndexEmbedder) -> list[str]:
    positions, stored = read_probes(folder)
    if not positions:
        return []
    texts = [indexed_text(passage) for passage in passages]
    again = embedder.fitted(texts).embed_passages([texts[at] for at in positions]).dense
    cosines = np.sum(again * stored, axis=1) / (np.linalg.norm(stored, axis=1) * np.linalg.norm(again, axis=1))
    return [
        f"passage {passages[at].passage_id!r} is embedded otherwise now: cosine {cosine:.4f} to the stored vector"
        for at, cosine in zip(positions, cosines, strict=True)
        if not cosine >= SAME
    ]


def _disk_bytes(folder: Path) -> int:
    """Blocks in use where the system says so: an engine's files have holes."""
    statuses = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(512 * status.st_blocks if hasattr(status, "st_blocks") else status.st_size for status in statuses)
