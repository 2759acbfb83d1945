from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DatasetError
from experiments.studies.review.reading import read_sheet

REQUIRED, KNOWN = ("row_id", "answer"), ("row_id", "answer", "correct", "note")


def write(folder: Path, content: bytes) -> Path:
    path = folder / "anna.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"row_id,answer,correct\r\nr1,x,y\r\n",
        b"\xef\xbb\xbfrow_id;answer;correct\nr1;x;y\n",
        b"row_id\tanswer\tcorrect\nr1\tx\ty",
        b'"row_id";"answer";"correct"\n"r1";"x";"y"\n',
        b"correct,row_id,answer,,\ny,r1,x,,\n,,,,\n",
    ],
)
def test_what_spreadsheets_save_is_read(tmp_path: Path, content: bytes) -> None:
    rows = read_sheet(write(tmp_path, content), REQUIRED, KNOWN)
    assert [(row.line, dict(row.cells)) for row in rows] == [(2, {"row_id": "r1", "answer": "x", "correct": "y"})]


def test_a_row_is_named_by_its_first_line_and_short_rows_end_with_empty_cells(tmp_path: Path) -> None:
    content = b'row_id,answer,correct\nr1,"two\nlines",y\n\nr2,x\n'
    rows = read_sheet(write(tmp_path, content), REQUIRED, KNOWN)
    assert [(row.line, row.cells["correct"]) for row in rows] == [(2, "y"), (5, "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"answer,correct\nx,y\n", "line 1: there is no column 'row_id'"),
        (b"row_id,answer,corect\n", "line 1: no column is called 'corect'; known are row_id, answer, correct, note"),
        (b"row_id,answer,note,note\n", "line 1: there are 2 columns 'note'"),
        (b"row_id,answer\nr1,x,oops\n", "line 2: 'oops' stands beyond the last column, answer"),
        (b"row_id,answer\nr1,M\xfcller\n", "is not UTF-8 (byte 18)"),
        (b'row_id,answer\nr1,x\nr2,"open\n', "line 3: no CSV from here on"),
    ],
)
def test_what_is_no_sheet_is_refused_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DatasetError) as refused:
        read_sheet(path, REQUIRED, KNOWN)
    assert str(path) in str(refused.value)
    assert message in str(refused.value)


def test_a_sheet_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"cannot read the sheet .*none\.csv"):
        read_sheet(tmp_path / "none.csv", REQUIRED, KNOWN)


@settings(max_examples=200)
@given(content=st.binary(max_size=80) | st.text(",;\"\n\rrow_idanswer\t'", max_size=80).map(str.encode))
def test_no_bytes_get_through_unread_or_unexplained(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.mktemp("sheets"), content)
    columns, problem = set(REQUIRED), str(path)
    try:
        rows = read_sheet(path, REQUIRED, KNOWN)
        columns = set(rows[0].cells) if rows else columns
    except DatasetError as error:
        problem = str(error)
    assert str(path) in problem
    assert set(REQUIRED) <= columns <= set(KNOWN)
