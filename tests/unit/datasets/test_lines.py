from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.datasets.records import FileRow, read_records
from arena.errors import DatasetError


def rows_of(folder: Path, content: bytes) -> list[FileRow]:
    path = folder / "data.jsonl"
    path.write_bytes(content)
    return list(read_records(path))


def complaint(folder: Path, content: bytes) -> str:
    with pytest.raises(DatasetError) as caught:
        rows_of(folder, content)
    return str(caught.value).removeprefix(str(folder / "data.jsonl"))


def test_reads_objects_in_order_and_skips_blank_lines(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, b'{"a": 1}\n\n  \r\n{"a": 2}\r\n{"a": 3}')
    assert [row.fields["a"] for row in rows] == [1, 2, 3]
    assert [row.place.rpartition(":")[2] for row in rows] == ["1", "4", "5"]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path, b"") == []


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert rows_of(tmp_path, b'\xef\xbb\xbf{"a": 1}\n')[0].fields == {"a": 1}


def test_line_separators_inside_a_string_end_no_line(tmp_path: Path) -> None:
    assert rows_of(tmp_path, '{"a": "x\u2028y\x85z"}\n'.encode())[0].fields == {"a": "x\u2028y\x85z"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"gone\.jsonl: no such file"):
        list(read_records(tmp_path / "gone.jsonl"))


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is a folder; name the data file in it"):
        list(read_records(tmp_path))


def test_a_file_used_as_a_folder_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match=r"file/data\.jsonl cannot be read"):
        list(read_records(tmp_path / "file" / "data.jsonl"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": \n', ":2: not JSON: Expecting value at column 6"),
        (b'{"a": 1}\n{"a": "caf\xe9"}\n', ":2: byte 11 of the line (0xe9) is not UTF-8"),
        ('{"a": 1}\n'.encode("utf-16"), " is UTF-16 text; save the file as UTF-8"),
        (b"7\n[1, 2]\n", ":1: an integer, not an object"),
        (b'"text"\n', ":1: a string, not an object"),
        (b"null\n", ":1: null, not an object"),
        (b'{"a": NaN}\n', ":1: not JSON: NaN is no JSON value"),
        (b'{"a": -Infinity}\n', ":1: not JSON: -Infinity is no JSON value"),
        (b'{"a": "\\uD83D"}\n', ":1: half a surrogate pair"),
        (b'{"a": ' + b"[" * 100_000 + b"\n", ":1: not JSON: "),
        (b'{"a": ' + b"9" * 5000 + b"}\n", ":1: not JSON: an integer of more than 4,300 digits; write it as a string"),
        (b'{"a": 1e999}\n', ":1: not JSON: 1e999 is larger than any number that can be kept"),
        (b'{"a": 1, "b": 2, "a": 3}\n', ":1: not JSON: the key 'a' is given twice in one object; keep one"),
    ],
)
def test_a_bad_line_is_named_with_its_fault(tmp_path: Path, content: bytes, message: str) -> None:
    assert complaint(tmp_path, content).startswith(message)


def test_a_whole_surrogate_pair_is_text(tmp_path: Path) -> None:
    assert rows_of(tmp_path, b'{"a": "\\ud83d\\ude00"}\n')[0].fields == {"a": "\U0001f600"}


def test_a_missing_field_is_named_with_those_that_are_there() -> None:
    with pytest.raises(DatasetError, match="f:3: no field 'title'; fields there: 'titel', 'text'"):
        FileRow("f:3", {"titel": "x", "text": "y"}).require("title", str)
    with pytest.raises(DatasetError, match="fields there: none"):
        FileRow("f:3", {}).require("title", str)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (12, str, "field 'x' must be a string, not an integer: 12"),
        (None, str, "field 'x' must be a string, not null: None"),
        (True, int, "field 'x' must be an integer, not true or false: True"),
        (1.5, int, "field 'x' must be an integer, not a number: 1.5"),
        ("yes", bool, "field 'x' must be true or false, not a string: 'yes'"),
        ({}, list, "field 'x' must be a list, not an object: {}"),
        ("a" * 500, dict, "field 'x' must be an object, not a string: 'aaaa"),
    ],
)
def test_a_wrong_type_is_named_with_the_value(value: Any, kind: Any, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        FileRow("f:1", {"x": value}).require("x", kind)
    assert str(caught.value).startswith(f"f:1: {message}")
    assert len(str(caught.value)) < 120


def test_members_of_lists_and_nested_objects_know_their_place() -> None:
    row = FileRow("f:1", {"ids": ["a", 2], "parts": [{"n": 1}, {"n": "two"}]})
    with pytest.raises(DatasetError, match=r"^f:1: field 'ids\[1\]' must be a string, not an integer: 2$"):
        row.items("ids", str)
    first, second = row.objects("parts")
    assert first.require("n", int) == 1
    with pytest.raises(DatasetError, match=r"^f:1, parts\[1\]: field 'n' must be an integer"):
        second.require("n", int)


def test_optional_fields_may_be_absent_or_null_but_not_of_another_type() -> None:
    row = FileRow("f:1", {"none": None, "some": "x"})
    assert row.optional("gone", str) is None
    assert row.optional("none", str) is None
    assert row.optional("some", str) == "x"
    with pytest.raises(DatasetError, match="must be an integer"):
        row.optional("some", int)


def test_an_identifier_is_not_blank() -> None:
    with pytest.raises(DatasetError, match="field 'id' is blank"):
        FileRow("f:1", {"id": " \t"}).identifier("id")


JSON_OBJECTS = st.dictionaries(
    st.text(max_size=8),
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.lists(st.text(max_size=4)),
)


@given(st.lists(JSON_OBJECTS, max_size=5), st.booleans())
def test_whatever_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, objects: list[Any], ascii: bool
) -> None:
    lines = "".join(json.dumps(value, ensure_ascii=ascii) + "\n" for value in objects)
    rows = rows_of(tmp_path_factory.mktemp("lines"), lines.encode())
    assert [row.fields for row in rows] == objects


@given(st.binary(max_size=40))
def test_any_bytes_give_rows_or_a_dataset_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    with contextlib.suppress(DatasetError):
        assert all(isinstance(row.fields, dict) for row in rows_of(tmp_path_factory.mktemp("bytes"), content))
