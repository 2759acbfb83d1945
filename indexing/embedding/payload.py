"""One embedded text as bytes: a checksum, four counts, then float32 and int32 numbers, little-endian."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from arena.protocols import SparseVector, Vectors

FORMAT = 1
"""Raised with every change of the bytes below, or of the keys they are kept under."""

_COUNTS = struct.Struct("<IiiI")  # dense width, terms (-1 = no lexical lane), token vectors (-1 = none), their width
_CHECK = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one text: as in `Encoded`, and the seconds it took (0 for a passage)."""

    dense: Vectors
    lexical: SparseVector | None = None
    multi: Vectors | None = None
    seconds: float = 0.0


def pack(kept: Kept, key: bytes) -> bytes:
    """The bytes of `kept`; their checksum covers `key` too, so that no entry passes for another."""
    terms = -1 if kept.lexical is None else len(kept.lexical.indices)
    rows, width = (-1, 0) if kept.multi is None else kept.multi.shape
    parts = [_COUNTS.pack(len(kept.dense), terms, rows, width), struct.pack("<d", kept.seconds), _bytes(kept.dense)]
    if kept.lexical is not None:
        parts.append(np.asarray(kept.lexical.indices, dtype="<i4").tobytes())
        parts.append(_bytes(np.asarray(kept.lexical.values, dtype=np.float32)))
    if kept.multi is not None:
        parts.append(_bytes(kept.multi))
    body = b"".join(parts)
    return _CHECK.pack(zlib.crc32(body, zlib.crc32(key))) + body


def unpack(payload: bytes, key: bytes) -> Kept | None:
    """What was packed under `key`, or None when these bytes are not it."""
    body = memoryview(payload)[_CHECK.size :]
    if len(body) < _COUNTS.size + 8 or _CHECK.unpack_from(payload)[0] != zlib.crc32(body, zlib.crc32(key)):
        return None
    size, terms, rows, width = _COUNTS.unpack_from(body)
    (seconds,) = struct.unpack_from("<d", body, _COUNTS.size)
    numbers = np.frombuffer(body, dtype="<f4", offset=_COUNTS.size + 8)
    dense, rest = numbers[:size], numbers[size:]
    lexical = None
    if terms >= 0:
        indices = rest[:terms].view("<i4")
        lexical = SparseVector(tuple(indices.tolist()), tuple(rest[terms : 2 * terms].tolist()))
        rest = rest[2 * terms :]
    multi = rest.reshape(rows, width) if rows >= 0 else None
    return Kept(dense, lexical, multi, seconds)


def _bytes(numbers: Vectors) -> bytes:
    return np.ascontiguousarray(numbers, dtype="<f4").tobytes()
