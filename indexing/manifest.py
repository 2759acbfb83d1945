"""What an index was built from: the file that decides whether it may be opened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.errors import IndexMismatchError
from arena.types import Document

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

    @property
    def fingerprint(self) -> str:
        """Short name of this identity, fit for a folder."""
        canonical = json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False)
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

    schema_version: int = 1
    identity: IndexIdentity
    documents: int
    passages: int
    truncated_passages: int
    """Passages longer than the embedding model reads."""
    provenance: dict[str, str | int | float]
    """Device, batch size, corpus statistics: recorded, never compared."""
    files: dict[str, int]
    """Every file of the engine, by its path in the shard, and its size in bytes."""

    def write(self, folder: Path) -> None:
        (folder / MANIFEST).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> IndexManifest:
    """The manifest of the index in `folder`. Raises `IndexMismatchError` when there is none to be read."""
    try:
        return IndexManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError as error:
        raise IndexMismatchError(f"no index in {str(folder)!r}: {REBUILD}") from error
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{error.error_count()} invalid fields"
        raise IndexMismatchError(f"the manifest in {str(folder)!r} cannot be read ({reason}): {REBUILD}") from error


def corpus_fingerprint(documents: Iterable[Document]) -> str:
    """Changes with any id, title or text; not with the order of the documents, nor with their metadata."""
    digest = hashlib.sha256()
    for document in sorted(documents, key=lambda d: d.doc_id):
        line = json.dumps([document.doc_id, document.title, document.text], ensure_ascii=False)
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
