"""The manifest of an index: what it was built from decides whether it may be opened.

Its files are stamped when it is built and compared when it is opened or verified. Beside it lies a sample of its own
vectors: each must still find the passage it was made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from arena.errors import DatasetError, IndexMismatchError
from arena.files import file_sha256, read_json, read_regular
from arena.identity import canonical_json, short_hash
from arena.protocols import Vectors
from arena.types import Document, Passage
from indexing.engines import Engine

QUICK_BYTES = 31 << 20  # below the pages of 32 MiB in which vectors lie


class FileStamp(BaseModel):
    """What a file must be: its size, and its content by hash. Of JSON, the content is what it says.

    The engine writes its JSON anew whenever it opens an index, with the keys of an object in any order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: int
    sha256: str


def stamps(folder: Path) -> dict[str, FileStamp]:
    """Every file under `folder`, by its path in it."""
    return {
        path.relative_to(folder).as_posix(): FileStamp(size_bytes=path.stat().st_size, sha256=_content_sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def damaged(folder: Path, files: Mapping[str, FileStamp], *, quick: bool = False) -> list[str]:
    """One line for each file that is missing or is not what was stamped, bit for bit (JSON: key for key).

    `quick` takes the content of large files on trust. They hold vectors, where damage makes wrong scores; in the
    small ones it makes an engine crash, past any error handling.
    """
    return [problem for path, stamp in files.items() if (problem := _problem(folder / path, stamp, quick))]


def _problem(place: Path, stamp: FileStamp, quick: bool) -> str | None:
    if not place.is_file():
        return f"{str(place)!r} is missing"
    if (size := place.stat().st_size) != stamp.size_bytes:
        return f"{str(place)!r} is damaged: {size} bytes, not {stamp.size_bytes}"
    if quick and size > QUICK_BYTES:
        return None
    found = file_sha256(place)
    if found != stamp.sha256 and _content_sha256(place) != stamp.sha256:
        return f"{str(place)!r} is damaged: SHA-256 {found}, not {stamp.sha256}"
    return None


def _content_sha256(path: Path) -> str:
    if path.suffix == ".json":
        try:
            content = read_json(path)
        except ValueError:
            return file_sha256(path)
        return short_hash(canonical_json(content, ascii_only=True), 64)
    return file_sha256(path)


MANIFEST = "manifest.json"
REBUILD = "`arena index build` makes a matching one"


class IndexIdentity(BaseModel):
    """Everything that can change a hit. Equal identities are the same index."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str
    """`corpus_fingerprint` of the documents."""
    chunking: dict[str, str | int]
    embedder: dict[str, str | int]
    dimension: int
    engine: str
    engine_version: str
    search: dict[str, str | int]
    """Exact, or the settings of the graph."""

    @property
    def fingerprint(self) -> str:
        """Short name of this identity, fit for a folder."""
        return f"index-{short_hash(canonical_json(self.model_dump()))}"

    def differences(self, wanted: IndexIdentity) -> list[str]:
        """One line for each setting in which this index is not the wanted one, naming both values."""
        mine, theirs = _flat(self.model_dump()), _flat(wanted.model_dump())
        keys = sorted(mine.keys() | theirs.keys())
        return [
            f"{key} is {mine.get(key)!r}, wanted {theirs.get(key)!r}"
            for key in keys
            if mine.get(key) != theirs.get(key)
        ]


class IndexManifest(BaseModel):
    """The identity of an index, its counts, and how it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[2] = 2
    identity: IndexIdentity
    documents: int
    passages: int
    passages_fingerprint: str
    """`passages_fingerprint` of the passages: another release of a tokenizer may cut the same text elsewhere."""
    empty_passages: int
    """Passages with neither title nor text; they can be hit, by accident."""
    truncated_passages: int
    """Passages longer than the embedding model reads."""
    recall_at_10: float | None
    """Share of the true ten nearest that a graph finds for sampled passages; None for exact search."""
    provenance: dict[str, str | int | float]
    """Device, batch size, corpus statistics: recorded, never compared."""
    files: dict[str, FileStamp]
    """Every other file of the index, by its path in the folder."""

    def write(self, folder: Path) -> None:
        (folder / MANIFEST).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> IndexManifest:
    """The manifest of the index in `folder`. Raises `IndexMismatchError` when there is none to be read."""
    try:
        return IndexManifest.model_validate_json(read_regular(folder / MANIFEST))
    except FileNotFoundError as error:
        raise IndexMismatchError(f"no index in {str(folder)!r}: {REBUILD}") from error
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{error.error_count()} invalid fields"
        raise IndexMismatchError(f"the manifest in {str(folder)!r} cannot be read ({reason}): {REBUILD}") from error


def corpus_fingerprint(documents: Iterable[Document]) -> str:
    """Changes with any id, title or text; not with the order of the documents, nor with their metadata.

    Raises `DatasetError` for a text that is not Unicode: half a surrogate pair, which JSON can smuggle in.
    """
    digest = hashlib.sha256()
    for document in sorted(documents, key=lambda d: d.doc_id):
        line = canonical_json([document.doc_id, document.title, document.text])
        try:
            digest.update(line.encode() + b"\n")
        except UnicodeEncodeError as error:
            raise DatasetError(
                f"document {document.doc_id!r} holds {line[error.start]!r}, which is half a character and no text: "
                "mend or leave out the document"
            ) from error
    return f"sha256:{digest.hexdigest()}"


def passages_fingerprint(passages: Iterable[Passage]) -> str:
    """Changes with any id or span, and with the order of the passages."""
    digest = hashlib.sha256()
    for passage in passages:
        line = canonical_json([passage.passage_id, passage.start_char, passage.end_char])
        digest.update(line.encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _flat(settings: dict[str, object]) -> dict[str, object]:
    """Nested settings as `embedder.model` and the like."""
    flat: dict[str, object] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{inner}": entry for inner, entry in value.items()}
        else:
            flat[key] = value
    return flat


PROBES = "probes.npz"
SAMPLED = 32
RECALL_SAMPLED = 200  # two hundred times ten neighbours: a recall of 0.95 is known to 0.01 or so
FOUND = 1 - 1e-3  # share of its own score that a passage must have when it is asked for by its own vector
REACH = 10  # places among which a passage must find itself: its doubles may come first


def sampled_positions(passages: int, *, graph: bool) -> frozenset[int]:
    """Up to `SAMPLED` positions, evenly spread; up to `RECALL_SAMPLED` where the recall of a `graph` is measured."""
    return frozenset(_spread(passages, RECALL_SAMPLED if graph else SAMPLED))


def write_probes(folder: Path, engine: Engine, vectors: Mapping[int, Vectors], *, graph: bool) -> float | None:
    """Keep up to `SAMPLED` of the sampled dense vectors: those by which the finished engine finds their passage.

    Gives the recall of the ten nearest over the sample, where a `graph` may miss some of them.
    """
    positions = sorted(vectors)
    probes = [positions[at] for at in _spread(len(positions), SAMPLED)]
    found = _found(engine, probes, np.stack([vectors[position] for position in probes]))
    kept = [position for position in probes if position in found]
    dense = np.stack([vectors[position] for position in kept]) if kept else np.empty((0, 0), np.float32)
    np.savez(folder / PROBES, positions=np.asarray(kept, np.int64), dense=dense)
    if not graph:
        return None
    return engine.measure_recall(np.stack([vectors[position] for position in positions]), REACH)


def read_probes(folder: Path) -> tuple[list[int], Vectors]:
    """Sampled positions and their dense vectors (n, d)."""
    with np.load(folder / PROBES, allow_pickle=False) as archive:
        arrays: dict[str, NDArray[Any]] = dict(archive)
    return arrays["positions"].tolist(), cast("Vectors", arrays["dense"])


def lost_passages(folder: Path, engine: Engine) -> list[int]:
    """Sampled positions that their own vector no longer finds."""
    positions, dense = read_probes(folder)
    found = _found(engine, positions, dense)
    return [position for position in positions if position not in found]


def _spread(length: int, most: int) -> list[int]:
    """Up to `most` places in a row of `length`, evenly spread, in order."""
    places: list[int] = np.linspace(0, length - 1, min(most, length), dtype=np.int64).tolist()
    return places


def _found(engine: Engine, positions: Sequence[int], dense: Vectors) -> set[int]:
    if not positions:
        return set()
    rankings = engine.dense(dense, REACH)
    return {
        position
        for position, vector, ranking in zip(positions, dense, rankings, strict=True)
        if any(one.position == position and one.score > FOUND * engine.own_score(vector) for one in ranking.best)
    }
