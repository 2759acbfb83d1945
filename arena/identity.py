"""What names things by their content: canonical JSON, and a short hash of it. Stored names must stay byte-equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

DIGITS = 16
"""Hex digits of a name, where nothing else is said: 64 bits."""


def canonical_json(
    value: object,
    *,
    ascii_only: bool = False,
    compact: bool = False,
    in_order: bool = False,
    default: Callable[[Any], Any] | None = None,
) -> str:
    """The JSON of a value, the same whatever the order of keys; with `in_order`, the order counts.

    `ascii_only`, `compact`: two spellings of JSON that stored names were made by. `default`: what stands for a value
    that JSON has no form for; without one, it is a `TypeError`. NaN and infinities are written as Python writes them.
    """
    return json.dumps(
        value,
        sort_keys=not in_order,
        ensure_ascii=ascii_only,
        separators=(",", ":") if compact else None,
        default=default,
    )


def short_hash(content: str | bytes, digits: int = DIGITS) -> str:
    """The first hex digits of the SHA-256 of a text (UTF-8) or bytes."""
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()[:digits]
