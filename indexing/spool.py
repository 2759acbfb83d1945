"""What a build has embedded so far, on disk, so that a killed build loses no more than the batch in hand."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from arena.protocols import Embedding, SparseVector, Vectors

KEY = "identity"
SUFFIX = ".batch"
_HASH_BYTES = 32

Arrays = dict[str, NDArray[Any]]


class Spool:
    """Embedded batches in one folder, each a file that is complete or not there: SHA-256, then a NumPy archive."""

    def __init__(self, folder: Path, identity: str) -> None:
        """Open the spool of the index of this identity; what another one left here is removed."""
        self._folder = folder
        key = folder / KEY
        if not (key.is_file() and key.read_text(encoding="utf-8") == identity):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            key.write_text(identity, encoding="utf-8")
        self._next = 1 + max((int(file.stem) for file in self._files()), default=-1)

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._files())

    def keep(self, positions: Sequence[int], embedding: Embedding) -> None:
        """Store one batch: the vectors of the passages at `positions`."""
        content = _to_bytes({"positions": np.asarray(positions, np.int64), **_arrays(embedding)})
        file = self._folder / f"{self._next:08}{SUFFIX}"
        part = file.with_suffix(".part")
        part.write_bytes(hashlib.sha256(content).digest() + content)
        os.replace(part, file)
        self._next += 1

    def batches(self) -> Iterator[tuple[list[int], Embedding]]:
        """All sound batches, bit for bit as they were kept; a damaged one is removed."""
        for file in self._files():
            batch = _read(file)
            if batch is None:
                file.unlink()
            else:
                yield batch

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{SUFFIX}"))


def _read(file: Path) -> tuple[list[int], Embedding] | None:
    stored = file.read_bytes()
    content = stored[_HASH_BYTES:]
    if hashlib.sha256(content).digest() != stored[:_HASH_BYTES]:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive)
    except (ValueError, BadZipFile):
        return None
    return arrays["positions"].tolist(), _embedding(arrays)


def _arrays(embedding: Embedding) -> Arrays:
    sparse = embedding.sparse
    arrays: Arrays = {
        "dense": embedding.dense,
        "terms": np.asarray([len(vector.indices) for vector in sparse], np.int64),
        "indices": np.asarray([index for vector in sparse for index in vector.indices], np.int64),
        "values": np.asarray([value for vector in sparse for value in vector.values], np.float64),
    }
    if embedding.multi is not None:
        arrays["tokens"] = np.asarray([len(matrix) for matrix in embedding.multi], np.int64)
        arrays["multi"] = np.concatenate(embedding.multi)
    return arrays


def _embedding(arrays: Arrays) -> Embedding:
    indices = _split(arrays["indices"], arrays["terms"])
    values = _split(arrays["values"], arrays["terms"])
    sparse = tuple(SparseVector(tuple(i.tolist()), tuple(v.tolist())) for i, v in zip(indices, values, strict=True))
    multi: tuple[Vectors, ...] | None = None
    if "multi" in arrays:
        multi = tuple(_split(arrays["multi"], arrays["tokens"]))
    return Embedding(arrays["dense"], sparse, multi)


def _split(rows: NDArray[Any], lengths: NDArray[Any]) -> list[NDArray[Any]]:
    return np.split(rows, np.cumsum(lengths)[:-1])


def _to_bytes(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
