from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.datasets.records import FileRow, read_records
from arena.errors import DatasetError

SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"))
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8")), SCALARS | st.lists(SCALARS), max_size=4)


def rows_of(folder: Path, content: bytes) -> list[FileRow]:
    path = folder / "data.json"
    path.write_bytes(content)
    return list(read_records(path))


def complaint(folder: Path, content: bytes) -> str:
    with pytest.raises(DatasetError) as caught:
        rows_of(folder, content)
    return str(caught.value).removeprefix(str(folder / "data.json"))


def test_an_array_is_told_by_its_content(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, b'\n [ {"a": 1},\n  {"a": [2]}\n]\n')
    assert [row.fields for row in rows] == [{"a": 1}, {"a": [2]}]
    assert [row.place.removeprefix(str(tmp_path)) for row in rows] == ["/data.json, record 1", "/data.json, record 2"]


def test_lines_are_told_by_their_content(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, b'\n{"a": 1}\n{"a": [2]}\n')
    assert [row.place.rpartition(":")[2] for row in rows] == ["2", "3"]


@pytest.mark.parametrize("content", [b"", b"  \n", b"[]", b" [\n] \n", b"\xef\xbb\xbf[]"])
def test_no_records_are_none(tmp_path: Path, content: bytes) -> None:
    assert rows_of(tmp_path, content) == []


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert rows_of(tmp_path, b'\xef\xbb\xbf[{"a": 1}]')[0].fields == {"a": 1}


@settings(max_examples=60)
@given(objects=st.lists(OBJECTS, max_size=5), indent=st.sampled_from([None, 1]))
def test_both_forms_give_the_same_records(tmp_path: Path, objects: list[dict[str, Any]], indent: int | None) -> None:
    array = json.dumps(objects, ensure_ascii=False, indent=indent).encode()
    lines = "".join(json.dumps(one) + "\n" for one in objects).encode()
    assert [row.fields for row in rows_of(tmp_path, array)] == objects
    assert [row.fields for row in rows_of(tmp_path, lines)] == objects


def test_values_keep_their_types(tmp_path: Path) -> None:
    """What a table with one type per column would change."""
    records = [{"id": 1, "answer": "1871-05-02"}, {"id": "007", "answer": "1871-05-03"}, {"facts": ["d"]}]
    assert [row.fields for row in rows_of(tmp_path, json.dumps(records).encode())] == records


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"a": 1},\n {"b": }]', ", record 2: not JSON: Expecting value at line 2, column 8"),
        (b'[{"a": 1} {"a": 2}]', ", record 1: not JSON: expected ',' or ']' at line 1, column 11"),
        (b'[{"a": 1},', ", record 2: not JSON: Expecting value at line 1, column 11"),
        (b'[{"a": 1}', ", record 1: not JSON: expected ',' or ']' at line 1, column 10"),
        (b'[{"a": 1}]\n[]', ": more text after the array, at line 2, column 1; keep one array"),
        (b"[1]", ", record 1: an integer, not an object; the file needs one JSON object per record"),
        (b'[{"a": NaN}]', ", record 1: not JSON: NaN is no JSON value"),
        (b'[{"a": "\\ud800"}]', ", record 1: half a surrogate pair"),
        (b'[{"a": "\xff"}]', ": byte 9 (0xff) is not UTF-8; save the file as UTF-8"),
        (b'{"a": 1}\n{"b": }\n', ":2: not JSON"),
        (b"[" * 100_000, ", record 1: not JSON: nested deeper than can be read"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    assert complaint(tmp_path, content).startswith(message)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"gone\.json: no such file"):
        list(read_records(tmp_path / "gone.json"))
    with pytest.raises(DatasetError, match="is a folder"):
        list(read_records(tmp_path))
