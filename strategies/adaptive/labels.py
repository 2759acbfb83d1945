"""The three complexity labels, and a file that gives each question its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from arena.errors import ConfigError
from arena.json_reading import parse_json

Label = Literal["A", "B", "C"]
"""A: no retrieval answers it; B: one retrieval; C: several, one after another."""

LABELS: tuple[Label, ...] = get_args(Label)
_HOW = "write a JSON object of question -> A, B or C, as `arena strategies labels` does"


def read_labels(path: Path) -> Mapping[str, Label]:
    """Question text -> label.

    Raises:
        ConfigError: the file cannot be read, or is no JSON object of questions and labels.
    """
    return _labels(path, _bytes(path))


def labels_sha(path: Path) -> str:
    """16 hex digits that change with the file. Raises as `read_labels` does."""
    content = _bytes(path)
    _labels(path, content)
    return hashlib.sha256(content).hexdigest()[:16]


def _labels(path: Path, written: bytes) -> Mapping[str, Label]:
    try:
        content = parse_json(written)
    except ValueError as error:
        raise ConfigError(f"oracle_labels {str(path)!r} is no JSON ({error}): {_HOW}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"oracle_labels {str(path)!r} holds a {type(content).__name__}, not an object: {_HOW}")
    for question, label in content.items():
        if label not in LABELS:
            raise ConfigError(f"oracle_labels {str(path)!r}: the label of {question!r} is {label!r}: {_HOW}")
    return content


def _bytes(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(f"oracle_labels {str(path)!r} cannot be read ({error.strerror}): {_HOW}") from None
