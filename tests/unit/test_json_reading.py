from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from arena.files import MAX_DEPTH, open_regular, parse_json, read_json


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        ('"\\ud83d\\ude00"', "😀"),
        (b'\xef\xbb\xbf{"a": "\xc3\xa9"}', {"a": "é"}),
        ("9" * 300, int("9" * 300)),
        ("-1e308", -1e308),
    ],
)
def test_what_is_sound_is_read(text: str | bytes, value: Any) -> None:
    assert parse_json(text) == value
    assert parse_json(nested(MAX_DEPTH))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (nested(MAX_DEPTH + 1), "nested deeper than 100"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested deeper than 100"),
        (nested(200_000), "nested deeper"),
        ("[" * 200_000, "nested deeper"),
        ('{"a": Infinity}', "Infinity is no JSON value"),
        ("[NaN]", "NaN is no JSON value"),
        ("1e999", "1e999 is larger than any number that can be kept"),
        ("1" + "0" * 400, "an integer of more than 300 digits"),
        ("9" * 5_000, "an integer of more than 4,300 digits"),
        ('{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ('"\\ud800"', "half a surrogate pair"),
        (b'"\xff"', "can't decode byte 0xff"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
    ],
)
def test_what_is_not_is_a_value_error_in_words(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)


def test_a_list_of_many_short_objects_is_not_deep() -> None:
    assert len(parse_json("[" + ",".join(["[{}]"] * 1_000) + "]")) == 1_000


def test_nothing_but_a_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        read_json(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none")
    (tmp_path / "a.json").write_text("[1]")
    assert read_json(tmp_path / "a.json") == [1]
