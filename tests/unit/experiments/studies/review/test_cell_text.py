from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.studies.review.sheet import LONGEST_CELL_CHARS, guarded, restored, same_text, sheet_text

ANY = st.text(st.characters(codec=None), max_size=60) | st.from_regex(r"[=+\-@\t\r'0-9][^a]{0,8}")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "'quoted'"])
def test_what_a_spreadsheet_would_run_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert restored(guarded(text)) == text


@pytest.mark.parametrize(
    "text", ["May 5, 1821", "3/4/2020", "007", "1.50", "12:30 pm", "1e5", "12345678901234567890", "50%"]
)
def test_what_a_spreadsheet_would_write_in_another_way_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["1872", "0", "Orlen Weir", "in May", "March", "697 | 697 pupils", "the 12th", ""])
def test_other_texts_stand_as_they_are(text: str) -> None:
    assert guarded(text) == text


@given(ANY)
def test_any_text_comes_back_through_a_sheet(text: str) -> None:
    shown = sheet_text(text)
    out = io.StringIO()
    csv.writer(out).writerow([guarded(shown)])
    ((cell,),) = csv.reader(io.StringIO(out.getvalue(), newline="")) if shown else ((("",),))
    assert restored(cell) == shown
    assert cell[:1] not in tuple("=+-@\t\r\n")
    assert same_text(cell, shown)
    assert same_text(shown.replace("\n", "\r\n"), shown)


def test_control_characters_and_half_characters_cannot_break_a_file() -> None:
    assert sheet_text("a\x00b\x1bc\ud800d\r\ne\rf") == "a\ufffdb\ufffdc?d\ne\nf"


def test_a_text_beyond_what_a_cell_holds_is_cut_and_says_so() -> None:
    shown = sheet_text("x" * 200_000)
    assert len(guarded(shown)) <= LONGEST_CELL_CHARS
    assert shown.endswith("[cut: 32,667 of 200,000 characters]")


def test_another_text_is_not_the_same() -> None:
    assert not same_text("Orlen  Weir", "Orlen Weir")
    assert not same_text("", "Orlen Weir")
    assert same_text(" =1+1 ", "=1+1")
