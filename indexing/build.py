"""Build an index in one piece, open it, or do whichever is needed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena.errors import ConfigError, DatasetError, IndexMismatchError, UnknownNameError, WeightsError
from arena.types import Document, Passage
from indexing.chunking import CHUNKING, indexed_text, passages_of
from indexing.embedding import IndexEmbedder
from indexing.engines import ENGINES, Engine
from indexing.manifest import REBUILD, IndexIdentity, IndexManifest, corpus_fingerprint, read_manifest
from indexing.progress import Progress, silent

SHARD = "shard"
SLICE = 256  # passages embedded between two progress reports


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


def build_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    folder: Path,
    *,
    engine: str = "edge",
    progress: Progress = silent,
) -> IndexManifest:
    """Embed the documents and leave a finished index at `folder`, replacing what was there.

    All work happens in a temporary sibling that is renamed at the end: an interrupted build leaves the old index or
    none. Raises `DatasetError` on an empty corpus or a repeated id, `WeightsError` when the model yields a vector
    that is not finite, `ConfigError` when the folder cannot be written.
    """
    passages = _checked_passages(documents)
    identity = _identity(documents, embedder, engine)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-building-", dir=folder.parent))
        try:
            manifest = _build(passages, embedder, work, identity, progress)
            manifest.write(work)
            _put_in_place(work, folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise ConfigError(
            f"cannot write an index to {str(folder)!r}: {error}; make room or choose another cache folder"
        ) from error
    return manifest


def open_index(folder: Path, documents: Sequence[Document], embedder: IndexEmbedder, *, engine: str = "edge") -> Index:
    """The index in `folder`, provided it was built from these documents with this embedder and engine.

    Raises `IndexMismatchError`, naming both values of every difference, otherwise; also when it cannot be read.
    """
    manifest = read_manifest(folder)
    differences = manifest.identity.differences(_identity(documents, embedder, engine))
    if differences:
        raise IndexMismatchError(f"the index in {str(folder)!r} is another one: {'; '.join(differences)}; {REBUILD}")
    _check_files(folder / SHARD, manifest)
    try:
        opened = ENGINES[engine].load(folder / SHARD)
    except OSError as error:
        raise IndexMismatchError(f"{error}; {REBUILD}") from error
    passages = _checked_passages(documents)
    if opened.count() != len(passages):
        found = opened.count()
        opened.close()
        raise IndexMismatchError(
            f"the index in {str(folder)!r} holds {found} of its {len(passages)} passages; {REBUILD}"
        )
    return Index(manifest, passages, opened)


def ensure_index(
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    root: Path,
    *,
    engine: str = "edge",
    progress: Progress = silent,
) -> Index:
    """The index of these documents under `root`, built first where it is missing or cannot be read.

    Its folder is named by its identity, so indexes of other corpora and models live beside it.
    """
    folder = root / _identity(documents, embedder, engine).fingerprint
    try:
        return open_index(folder, documents, embedder, engine=engine)
    except IndexMismatchError:
        build_index(documents, embedder, folder, engine=engine, progress=progress)
    return open_index(folder, documents, embedder, engine=engine)


def _checked_passages(documents: Sequence[Document]) -> tuple[Passage, ...]:
    if not documents:
        raise DatasetError("the corpus is empty: an index needs at least one document")
    seen: set[str] = set()
    for document in documents:
        if document.doc_id in seen:
            raise DatasetError(f"document id {document.doc_id!r} occurs twice: ids must be unique in a corpus")
        seen.add(document.doc_id)
    return passages_of(documents)


def _identity(documents: Sequence[Document], embedder: IndexEmbedder, engine: str) -> IndexIdentity:
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    return IndexIdentity(
        corpus=corpus_fingerprint(documents),
        chunking=dict(CHUNKING),
        embedder=dict(embedder.identity),
        dimension=embedder.dimension,
        engine=engine,
        engine_version=ENGINES[engine].version(),
    )


def _build(
    passages: Sequence[Passage], embedder: IndexEmbedder, work: Path, identity: IndexIdentity, progress: Progress
) -> IndexManifest:
    texts = [indexed_text(passage) for passage in passages]
    fitted = embedder.fitted(texts)
    engine = ENGINES[identity.engine]
    target = engine.create(work / SHARD, identity.dimension)
    try:
        _fill(target, texts, fitted, progress)
    finally:
        target.close()
    engine.load(work / SHARD).close()  # the first load tidies the files up; from then on their sizes stay
    return IndexManifest(
        identity=identity,
        documents=len({passage.doc_id for passage in passages}),
        passages=len(passages),
        truncated_passages=fitted.count_truncated(texts),
        provenance=dict(fitted.provenance),
        files=_file_sizes(work / SHARD),
    )


def _fill(target: Engine, texts: Sequence[str], embedder: IndexEmbedder, progress: Progress) -> None:
    """Embed slice by slice, longest texts first: batches are full, and the time left is never underestimated."""
    order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), position))
    for start in range(0, len(order), SLICE):
        positions = order[start : start + SLICE]
        embedding = embedder.embed_passages([texts[position] for position in positions])
        try:
            target.add(positions, embedding)
        except ValueError as error:
            raise WeightsError(f"the embedding model is broken: {error}; fetch or choose another one") from error
        progress(start + len(positions), len(order), "passages embedded")
    target.flush()


def _put_in_place(work: Path, folder: Path) -> None:
    """Rename `work` to `folder`; what was there is moved aside first, because a rename cannot replace a full folder."""
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-replaced-", dir=folder.parent))
    try:
        if folder.exists():
            os.replace(folder, aside / "old")
        os.replace(work, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _file_sizes(folder: Path) -> dict[str, int]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def _check_files(folder: Path, manifest: IndexManifest) -> None:
    """Refuse lost and cut files here: an engine may answer wrongly or crash on them rather than complain."""
    found = _file_sizes(folder)
    for path, size in manifest.files.items():
        if found.get(path) != size:
            raise IndexMismatchError(
                f"{str(folder / path)!r} is damaged: {found.get(path)} bytes, not {size}; {REBUILD}"
            )
