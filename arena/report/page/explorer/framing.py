"""The island: gzip members as text, one a line, so that the page can open one without the others.

Line 0 is the table of contents, which names the others by their numbers. Each member is JSON. Its bytes are written to
the base 85, which takes a sixteenth less than base64; no letter of it means anything in HTML. `codec.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

LEVEL = 8  # 9 takes twice as long for a thousandth
_SAFE = bytes.maketrans(b"&<>", b",./")


def member(content: Any) -> bytes:
    """A member; the same content gives the same bytes."""
    return _compressed(_json(content))


def members(contents: Iterable[Any]) -> list[bytes]:
    """A member of each content, in their order; while one is compressed, the next is made."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [done.result() for done in [pool.submit(_compressed, _json(content)) for content in contents]]


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _compressed(text: bytes) -> bytes:
    return gzip.compress(text, LEVEL, mtime=0)


def island_chars(member_bytes: int) -> int:
    """Characters of a member of so many bytes in the island, its line end included."""
    whole, rest = divmod(member_bytes, 4)
    return 5 * whole + (rest + 1 if rest else 0) + 1


def as_line(content: bytes) -> str:
    """Bytes as text: four of them in five letters, those of `base64.b85encode` but `&<>`, which are `,./`."""
    return base64.b85encode(content).translate(_SAFE).decode("ascii")


class Lines:
    """Members by their line numbers; line 0 is kept free for the table of contents."""

    def __init__(self) -> None:
        self._members: list[bytes] = []

    def add(self, content: bytes) -> int:
        """The line number of a member."""
        self._members.append(content)
        return len(self._members)

    def island(self, contents: Any) -> str:
        """All of it, with `contents` as its first line."""
        return "\n".join(map(as_line, (member(contents), *self._members)))
