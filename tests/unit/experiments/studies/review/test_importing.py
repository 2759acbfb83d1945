from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from arena.errors import DatasetError
from arena.store import RunStore
from experiments.studies.review.agreement import Review, import_sheets
from experiments.studies.review.sheet import export_sheet
from tests.unit.experiments.studies.review.reviewed_runs import OTHER, SILENT, VANILLA, Row, fill, reviewed_run

Files = Mapping[str, bytes]


@pytest.fixture
def store(tmp_path: Path, jsonl_folder: Path) -> RunStore:
    return reviewed_run(tmp_path / "runs" / "r1", jsonl_folder)


@pytest.fixture
def sheet(store: RunStore, tmp_path: Path) -> Path:
    return export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0).sheet


def right(row: Row) -> dict[str, str]:
    """The first rater: strict, and silent on what has no gold answer."""
    if row["gold_answers"].startswith("("):
        return {"abstains_when_it_should": "y" if "know" in row["answer"] else "n"}
    return {"correct": "y" if row["answer"] in ("Mirelle Ostrand", "1871") else "N ", "rater": "Anna"}


def lenient(row: Row) -> dict[str, str]:
    return {"correct": "yes"} if not row["gold_answers"].startswith("(") else {"correct": "n/a"}


def imported(store: RunStore, *sheets: Path) -> Review:
    return import_sheets(store.folder, sheets, SILENT)


def files(store: RunStore) -> Files:
    return {path.name: path.read_bytes() for path in store.folder.iterdir() if path.name != "run.lock"}


def labels(store: RunStore) -> dict[tuple[str, str], bool]:
    lines = map(json.loads, (store.labels_text() or "").splitlines())
    return {(line["cell"], line["question_id"]): line["correct"] for line in lines}


def test_a_name_moves_no_cursor_and_turns_no_line(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    named = fill(sheet, tmp_path / "one.csv", lambda row: lenient(row) | {"rater": "An\x1b[31mna \u202e"})
    found = imported(store, named)
    assert list(found.raters) == ["An<U+001B>[31mna <U+202E>"]
    assert list(imported(store, named).unchanged) == list(found.raters)


def test_marks_come_back_to_the_answers_they_are_of(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    anna = fill(sheet, tmp_path / "one.csv", right, delimiter=";")
    found = imported(store, anna)
    assert (found.raters, found.added, found.labels, found.ties) == ({"Anna": 5, "one": 2}, {"Anna": 5, "one": 2}, 5, 0)
    assert labels(store) == {
        (VANILLA.key, "q1"): True,
        (VANILLA.key, "q2"): True,
        (OTHER.key, "q1"): False,
        (OTHER.key, "q2"): False,
        (OTHER.key, "q3"): False,
    }
    correct = next(one for one in found.criteria if one.criterion == "correct")
    (em,) = correct.others
    assert (em.first, em.n, em.share, em.kappa) == ("answer_em", 5, 1.0, 1.0)


def test_a_majority_labels_and_a_tie_does_not(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    anna, ben = fill(sheet, tmp_path / "anna.csv", right), fill(sheet, tmp_path / "ben.csv", lenient)
    found = imported(store, anna, ben)
    assert (found.labels, found.ties) == (2, 3)
    cleo = fill(sheet, tmp_path / "cleo.csv", lenient)
    found = imported(store, cleo)
    assert (found.labels, found.ties, found.added) == (5, 0, {"cleo": 7})
    assert set(labels(store).values()) == {True}


def test_the_same_sheet_again_changes_no_byte(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    anna = fill(sheet, tmp_path / "anna.csv", right)
    imported(store, anna)
    before = files(store)
    again = imported(store, anna)
    assert files(store) == before
    assert (again.added, again.replaced, again.unchanged) == ({}, {}, {"Anna": 5, "anna": 2})


def test_a_changed_sheet_replaces_and_an_empty_row_leaves(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    imported(store, fill(sheet, tmp_path / "anna.csv", lambda row: lenient(row) | {"rater": "Anna"}))
    only = fill(
        sheet, tmp_path / "b.csv", lambda row: {"correct": "n", "rater": "Anna"} if "May" in row["answer"] else {}
    )
    found = imported(store, only)
    assert (found.replaced, found.n_blank, found.raters) == ({"Anna": 1}, 6, {"Anna": 7})
    assert [place for place, is_right in labels(store).items() if not is_right] == [(OTHER.key, "q2")]


def test_a_rater_who_judges_twice_in_one_import_repeats(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    rounds = [fill(sheet, tmp_path / f"{n}.csv", lambda row: lenient(row) | {"rater": "Anna"}) for n in (1, 2)]
    found = imported(store, *rounds)
    correct = next(one for one in found.criteria if one.criterion == "correct")
    (anna,) = correct.within
    assert (anna.n, anna.share, anna.alpha) == (5, 1.0, None)
    assert (found.raters, correct.raters) == ({"Anna": 7}, ())


def test_labels_that_were_handed_in_stay_where_the_review_is_silent(
    store: RunStore, sheet: Path, tmp_path: Path
) -> None:
    handed = {"question_id": "q5", "correct": True, "cell": OTHER.key}
    wrong = {"question_id": "q1", "correct": False, "cell": VANILLA.key}
    store.write_labels(f"{json.dumps(handed)}\n{json.dumps(wrong)}\n")
    found = imported(store, fill(sheet, tmp_path / "anna.csv", right))
    assert (labels(store)[OTHER.key, "q5"], labels(store)[VANILLA.key, "q1"], found.overruled) == (True, True, 1)


def edited(column: str, was: str, value: str) -> dict[str, str]:
    return {"column": column, "was": was, "value": value}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited("correct", "1871", "maybe"), "column correct: 'maybe' is none of y, n, na, and not empty"),
        (edited("answer", "1871", "1872"), "column answer: '1872' is not what was exported, '1871'"),
        (edited("question", "1871", "Why?"), "column question: 'Why?' is not what was exported, 'When was"),
        (edited("answer", "'May 5, 1871", "5-May-71"), "column answer: '5-May-71' is not what was exported, 'May 5"),
        (edited("row_id", "1871", "r000000-0"), "column row_id: 'r000000-0' is a row of another run"),
        (edited("row_id", "1871", "{tag}-0"), "is no answer of this run: it was changed"),
    ],
)
def test_what_cannot_be_is_named_with_its_place_and_nothing_is_written(
    store: RunStore, sheet: Path, tmp_path: Path, edit: Mapping[str, str], message: str
) -> None:
    before = files(store)
    lines: list[int] = []

    def change(row: Row) -> dict[str, str]:
        if row["answer"] != edit["was"]:
            return right(row)
        lines.append(1)
        return right(row) | {edit["column"]: edit["value"].format(tag=row["row_id"].split("-")[0])}

    bad = fill(sheet, tmp_path / "bad.csv", change)
    with pytest.raises(DatasetError) as refused:
        imported(store, fill(sheet, tmp_path / "good.csv", lenient), bad)
    assert len(lines) == 1
    first, last = str(refused.value).splitlines()
    assert first.startswith(f"{bad}, line ")
    assert message in first
    assert last == "nothing was imported"
    assert files(store) == before


def test_all_that_is_wrong_is_listed_at_once(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    bad = fill(sheet, tmp_path / "bad.csv", lambda row: {"correct": "?", "right_format": "2", "note": "x"})
    with pytest.raises(DatasetError) as refused:
        imported(store, bad)
    assert len(str(refused.value).splitlines()) == 14 + 1


def test_empty_sheets_and_sheets_given_twice_are_refused(store: RunStore, sheet: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no row is judged"):
        imported(store, sheet)
    anna = fill(sheet, tmp_path / "anna.csv", right)
    with pytest.raises(DatasetError, match=r"anna\.csv: is given twice"):
        imported(store, anna, tmp_path / "." / "anna.csv")
