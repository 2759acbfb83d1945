"""JSON files as this project reads them: regular files of a bounded size, values that can be kept, and no others.

Standing on nothing, so that data, run folders, indexes and settings are all read by the same rules. What is wrong is a
`ValueError` or an `OSError` whose text says it; nothing nested, large, misspelt or special ends in anything else.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
from errno import EFBIG, EINVAL
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

MAX_DEPTH = 100
"""Objects and lists in one another. None of our files has ten."""

MAX_BYTES = 1 << 30
"""Of a file that is read as a whole."""

_MAX_DIGITS = 300
"""Of an integer: more do not fit into a double."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading. Raises `OSError` for what is none: a pipe would wait for a writer for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """The bytes of a file. Raises `OSError` for one that is not regular, or larger than MAX_BYTES."""
    with open_regular(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(EFBIG, f"it is larger than {MAX_BYTES >> 20:,} MiB", str(path))
    return content


def read_json(path: Path) -> Any:
    """The JSON value in a file. Raises as `read_regular` and `parse_json` do."""
    return parse_json(read_regular(path))


def parse_json(text: str | bytes) -> Any:
    """The JSON value in a text, in UTF-8.

    Raises:
        ValueError: it is none; or holds NaN, an infinity, a number that no double holds, a key twice in one object,
            half a surrogate pair, or objects and lists nested deeper than MAX_DEPTH.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = DECODER.decode(text)
        if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} objects and lists")
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("half a surrogate pair (\\ud800 to \\udfff alone) is not text") from None
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(fault_of(error)) from None
    return value


def fault_of(error: ValueError | RecursionError) -> str:
    """What `DECODER` found wrong, in words; for a JSON value that is sound but cannot be kept as well."""
    if isinstance(error, RecursionError):
        return "nested deeper than can be read (maximum recursion depth)"
    if "integer string conversion" in str(error):
        return f"an integer of more than {sys.get_int_max_str_digits():,} digits; write it as a string"
    return str(error)


def _depth(value: Any) -> int:
    """How many objects and lists are in one another."""
    depth, layer = 0, [value]
    while layer:
        boxes = [one for one in layer if isinstance(one, dict | list)]
        layer = [inner for box in boxes for inner in (box.values() if isinstance(box, dict) else box)]
        depth += bool(boxes)
    return depth


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is larger than any number that can be kept; write it as a string")
    return number


def _bounded(digits: str) -> int:
    if _MAX_DIGITS < len(digits) <= sys.get_int_max_str_digits():
        raise ValueError(f"an integer of more than {_MAX_DIGITS} digits; write it as a string")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise ValueError(f"the key {twice!r} is given twice in one object; keep one")
    return fields


DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, parse_int=_bounded, object_pairs_hook=_unique
)
"""Reads one JSON value; a `ValueError` or `RecursionError` says what is wrong with it, for `fault_of`."""
