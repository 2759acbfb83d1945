from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.store import QUESTIONS, SCORES
from arena.store.files import _array
from tests.unit.store.test_store import new


def test_a_table_has_a_type_per_column_and_every_value_may_be_missing(tmp_path: Path) -> None:
    store = new(tmp_path)
    columns: dict[str, list[object]] = {
        "name": ["a", None],
        "right": [True, None],
        "tokens": [3, None],
        "seconds": [1, 0.5],
        "reason": [None, None],
        "unknown": [None, None],
    }
    store.write_table(QUESTIONS, columns, {"reason": str})
    assert store.read_table(QUESTIONS) == columns
    assert store.read_table(QUESTIONS, ["name"]) == {"name": ["a", None]}
    types = pq.read_schema(store.folder / QUESTIONS).types
    assert [str(one) for one in types] == ["string", "bool", "int64", "double", "string", "double"]


VALUES = {str: st.text(), bool: st.booleans(), int: st.integers(-(2**63), 2**63 - 1), float: st.floats()}


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_a_column_is_what_arrow_makes_of_its_values(kind: type, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=20))
    type_ = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[kind]
    made = _array(values, kind)
    made.validate(full=True)
    assert (made.type, made.null_count, repr(made.to_pylist())) == (type_, values.count(None), repr(values))


def test_a_long_table_is_written_in_groups_of_rows(tmp_path: Path) -> None:
    store, column = new(tmp_path), list(range(250_000))
    store.write_table(SCORES, {"n": column})
    assert pq.read_metadata(store.folder / SCORES).num_row_groups == 3
    assert store.read_table(SCORES) == {"n": column}


@pytest.mark.parametrize("columns", [{"a": [1], "b": [1, 2]}, {"a": [1, "x"]}, {"a": [True, 1]}, {"a": [b"x"]}])
def test_what_is_no_table_is_refused(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    store = new(tmp_path)
    with pytest.raises(ValueError, match=r"rows make no table|column 'a' mixes, or holds, "):
        store.write_table(SCORES, columns)
    assert not (store.folder / SCORES).exists()
