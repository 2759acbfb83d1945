"""Files of a run folder: its lock, its Parquet tables, and calls.jsonl, the ledger of model calls.

Files are written whole or not at all, and one process at a time writes. calls.jsonl has one model call a line and is
derived from the journals.
"""

from __future__ import annotations

import json
import shlex
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from arena.errors import RunStoreError
from arena.files import open_regular, read_regular, replacing
from arena.types import LLMCall, RunRecord


def replace(target: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file as `replacing` does. Raises `RunStoreError` where the disk refuses."""
    try:
        with replacing(target) as part, part.open("wb") as out:
            write(out)
    except OSError as error:
        raise RunStoreError(
            f"cannot write {str(target)!r}: {error.strerror or error}; the run's records are kept"
        ) from error


def replace_text(target: Path, text: str) -> None:
    """`replace` with a text; what UTF-8 cannot hold, as in a folder's odd name, is written as its escape."""
    replace(target, lambda out: out.write(text.encode("utf-8", "backslashreplace")))


def replace_json(target: Path, content: Mapping[str, Any]) -> None:
    """`replace` with JSON for people to read."""
    replace_text(target, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_text(path: Path, *, derived: bool = False) -> str:
    """The file's text. `derived`: `arena score` makes it. Raises `RunStoreError` naming run, file and remedy."""
    try:
        return read_regular(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        remedy = f"derive it anew with arena score {shlex.quote(str(path.parent))}" if derived else "restore a copy"
        why = error.strerror if isinstance(error, OSError) else f"no UTF-8 ({error})"
        raise RunStoreError(f"cannot read {path.name} of run {path.parent.name!r}: {why}; {remedy}") from error


LOCK = "run.lock"


class RunLock:
    """Held by whoever writes; the holder may take it again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / LOCK, thread_local=False)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            RunStoreError: another process holds it, which is not waited for; or there is no such folder.
        """
        if not self._folder.is_dir():  # else it would be made to hold the lock
            raise RunStoreError(f"there is no run folder {str(self._folder)!r}")
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise RunStoreError(
                f"run {self._folder.name!r} is being written by another process: wait for it, or choose another "
                "--run-id"
            ) from None
        except OSError as error:
            raise RunStoreError(f"cannot lock run folder {str(self._folder)!r}: {error.strerror}") from error
        try:
            yield
        finally:
            self._lock.release()


_ROW_GROUP = 100_000
"""Rows that are turned into columns at once; the table never exists a second time as a whole."""


def write_table(path: Path, columns: Mapping[str, Sequence[object]], types: Mapping[str, type]) -> None:
    """Write columns of one length. A column's type is that in `types`, or that of its values; all are nullable.

    Values are str, bool, int or float; int and float together are float, and a column of None alone is float.

    Raises:
        ValueError: a column is longer than another, or holds values of types that do not go together.
        RunStoreError: the disk refused.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of {sorted(lengths)} rows make no table")
    rows = lengths.pop() if lengths else 0
    known = {name: types.get(name) or _type_of(name, column) for name, column in columns.items()}
    schema = pa.schema([pa.field(name, _arrow(pa, known[name])) for name in columns])

    def write(out: BinaryIO) -> None:
        with pq.ParquetWriter(out, schema) as writer:
            for start in range(0, rows, _ROW_GROUP):
                parts = ((column[start : start + _ROW_GROUP], known[name]) for name, column in columns.items())
                arrays = [_array(*part) for part in parts]
                writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=_ROW_GROUP)

    replace(path, write)


def read_table(path: Path, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """The columns of that name (None: all). Raises `RunStoreError` if there is no such table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(path) as file:
            # Not pq.read_table, which imports pandas.
            table = pq.ParquetFile(file).read(columns=names)
            return {name: table.column(name).to_pylist() for name in (table.column_names if names is None else names)}
    except (OSError, KeyError, pa.ArrowException) as error:
        raise RunStoreError(
            f"cannot read {path.name} of run {path.parent.name!r}: {error}; derive it anew with arena score "
            f"{shlex.quote(str(path.parent))}"
        ) from error


def _type_of(name: str, column: Sequence[object]) -> type:
    found = {type(value) for value in column if value is not None}
    if found <= {int, float}:
        return int if found == {int} else float
    if found in ({str}, {bool}):
        return found.pop()
    raise ValueError(f"column {name!r} mixes, or holds, {', '.join(sorted(kind.__name__ for kind in found))}")


def _array(values: Sequence[Any], kind: type) -> Any:
    """An Arrow array, made of its buffers: `pa.array` of a list would import pandas, a third of a second."""
    import numpy as np
    import pyarrow as pa

    buffers: list[Any]
    if kind is str:
        texts = [b"" if value is None else value.encode() for value in values]
        buffers = [np.cumsum([0, *map(len, texts)], dtype=np.int32), b"".join(texts)]
    elif kind is bool:
        buffers = [np.packbits(np.array(values, dtype=bool), bitorder="little")]
    else:
        buffers = [array("q" if kind is int else "d", [0 if value is None else value for value in values])]
    given = np.array([value is not None for value in values], dtype=bool)
    validity = None if given.all() else pa.py_buffer(np.packbits(given, bitorder="little"))
    return pa.Array.from_buffers(_arrow(pa, kind), len(values), [validity, *map(pa.py_buffer, buffers)])


def _arrow(pa: Any, kind: type) -> Any:
    return {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[kind]


_CALL = TypeAdapter(LLMCall)
_SUMS = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "reasoning_tokens",
    "queue_seconds",
    "service_seconds",
)


def call_lines(records: Iterable[RunRecord], *, superseded: bool = False) -> Iterator[bytes]:
    """Each ledger entry with its cell, its question and the sums over its attempts.

    `superseded`: the records were asked again later; what they took was paid all the same.
    """
    for record in records:
        place: dict[str, object] = {"cell": record.cell.key, "question_id": record.question_id}
        if superseded:
            place["superseded"] = True
        for call in record.calls:
            sums = {name: getattr(call, name) for name in _SUMS}
            line = json.dumps(place | sums | _CALL.dump_python(call, mode="json"), ensure_ascii=False)
            yield line.encode() + b"\n"
