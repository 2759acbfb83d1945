from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.datasets.musique import read_official_gold, read_predictions
from arena.errors import DatasetError
from arena.types.data import OfficialGold, OfficialPrediction

Record = dict[str, Any]

LABELS = (
    OfficialGold("2hop__1_2", ("Brandt", "I. Brandt"), (0, 2), answerable=True),
    OfficialGold("2hop__3_4", ("Tolm",), (1,), answerable=True),
)


def gold_record(**changes: Any) -> Record:
    paragraphs = [{"idx": idx, "title": "", "paragraph_text": "", "is_supporting": idx != 1} for idx in range(3)]
    base = {"id": "2hop__1_2", "paragraphs": paragraphs, "answer": "Brandt", "answer_aliases": ["I. Brandt"]}
    return base | {"answerable": True} | changes


def predicted(question_id: str = "2hop__1_2", **changes: Any) -> Record:
    base = {"predicted_answer": "Brandt", "predicted_support_idxs": [2, 0], "predicted_answerable": True}
    return {"id": question_id} | base | changes


def write(folder: Path, *records: Record) -> Path:
    path = folder / "lines.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_reads_the_labels_of_both_twins(tmp_path: Path) -> None:
    path = write(tmp_path, gold_record(), gold_record(answerable=False, answer_aliases=[]))
    assert read_official_gold(path) == (LABELS[0], OfficialGold("2hop__1_2", (), (), answerable=False))


def test_a_record_without_a_word_on_it_is_answerable(tmp_path: Path) -> None:
    record = gold_record(answer="", answer_aliases=[])
    del record["answerable"]
    assert read_official_gold(write(tmp_path, record)) == (OfficialGold("2hop__1_2", ("",), (0, 2), answerable=True),)


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        ([gold_record(), gold_record()], ":2: a second answerable record with id '2hop__1_2'; the first is at"),
        ([gold_record(), gold_record(id="x", answerable=False)], ":1: id '2hop__1_2' has no unanswerable twin"),
        ([gold_record(answerable=False)], "holds no answerable record"),
        ([], "holds no answerable record"),
        ([{"id": "2hop__1_2", "paragraphs": []}], ":1: no field 'answer'; MuSiQue's test files hide their labels"),
        ([gold_record(answer=7)], ":1: field 'answer' must be a string"),
    ],
)
def test_labels_that_cannot_be_used_are_named(tmp_path: Path, records: list[Record], complaint: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read_official_gold(write(tmp_path, *records))
    assert complaint in str(caught.value)


def test_predictions_come_in_the_order_of_the_gold(tmp_path: Path) -> None:
    path = write(tmp_path, predicted("2hop__3_4", predicted_answer="T"), predicted())
    assert read_predictions(path, LABELS) == (
        OfficialPrediction("2hop__1_2", "Brandt", (2, 0), answerable=True),
        OfficialPrediction("2hop__3_4", "T", (2, 0), answerable=True),
    )


def test_the_first_prediction_for_twins_belongs_to_the_first_twin(tmp_path: Path) -> None:
    twin = OfficialGold("2hop__1_2", (), (), answerable=False)
    path = write(tmp_path, predicted(predicted_answer="one"), predicted(predicted_answer="two"))
    for gold in ((LABELS[0], twin), (twin, LABELS[0])):
        assert [prediction.answer for prediction in read_predictions(path, gold)] == ["one", "two"]


@pytest.mark.parametrize("field", ["predicted_answer", "predicted_support_idxs", "predicted_answerable", "id"])
def test_a_missing_field_is_named_with_its_line(tmp_path: Path, field: str) -> None:
    torn = predicted("2hop__3_4")
    del torn[field]
    with pytest.raises(DatasetError) as caught:
        read_predictions(write(tmp_path, predicted(), torn), LABELS)
    assert f"lines.jsonl:2: no field {field!r}" in str(caught.value)


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        (predicted("2hop__3_4", predicted_answer=None), ":2: field 'predicted_answer' must be a string, not null"),
        (predicted("2hop__3_4", predicted_support_idxs=["2"]), ":2: field 'predicted_support_idxs[0]' must be an int"),
        (predicted("2hop__3_4", predicted_support_idxs=2), ":2: field 'predicted_support_idxs' must be a list"),
        (predicted("2hop__3_4", predicted_answerable=1), ":2: field 'predicted_answerable' must be true or false"),
        (predicted("other"), ":2: id 'other' is not among the 2 records of the gold file"),
        (predicted(), ":2: prediction 2 for id '2hop__1_2', of which the gold has 1; the last was at"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, second: Record, complaint: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read_predictions(write(tmp_path, predicted(), second), LABELS)
    assert complaint in str(caught.value)


def test_a_record_without_a_prediction_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no prediction for 1 of 2 records, the first of which has id '2hop__3_4'"):
        read_predictions(write(tmp_path, predicted()), LABELS)
    twins = (LABELS[0], OfficialGold("2hop__1_2", (), (), answerable=False))
    with pytest.raises(DatasetError, match=r"an id that stands twice in the gold needs two"):
        read_predictions(write(tmp_path, predicted()), twins)
