"""What an index was built from: the file that decides whether it may be opened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.errors import DatasetError, IndexMismatchError
from arena.json_reading import read_regular
from arena.types import Document, Passage
from indexing.integrity import FileStamp

MANIFEST = "manifest.json"
REBUILD = "`arena index build` makes a matching one"


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


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
        canonical = _CANONICAL.encode(self.model_dump())
        return f"index-{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"

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
        line = _CANONICAL.encode([document.doc_id, document.title, document.text])
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
        line = _CANONICAL.encode([passage.passage_id, passage.start_char, passage.end_char])
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
