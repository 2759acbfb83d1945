"""Tables of a run folder, as Parquet."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from arena.errors import RunStoreError
from arena.files import open_regular
from arena.store.files import replace

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
                part = {name: column[start : start + _ROW_GROUP] for name, column in columns.items()}
                arrays = [pa.array(part[name], schema.field(name).type) for name in columns]
                writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=_ROW_GROUP)

    replace(path, write)


def read_table(path: Path, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """The columns of that name (None: all). Raises `RunStoreError` if there is no such table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(path) as file:
            columns: dict[str, list[Any]] = pq.read_table(file, columns=names).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise RunStoreError(
            f"cannot read {path.name} of run {path.parent.name!r}: {error}; derive it anew with arena score "
            f"{shlex.quote(str(path.parent))}"
        ) from error
    return columns


def _type_of(name: str, column: Sequence[object]) -> type:
    found = {type(value) for value in column if value is not None}
    if found <= {int, float}:
        return int if found == {int} else float
    if found in ({str}, {bool}):
        return found.pop()
    raise ValueError(f"column {name!r} mixes, or holds, {', '.join(sorted(kind.__name__ for kind in found))}")


def _arrow(pa: Any, kind: type) -> Any:
    return {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[kind]
