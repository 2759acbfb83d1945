from __future__ import annotations

import pytest

from arena.errors import DatasetError
from arena.judges.labels import Label, label_lines, labels_by_place, read_labels, reviewed_labels


def test_labels_are_read_by_cell_and_question() -> None:
    text = '{"question_id": "q1", "correct": true}\n\n{"question_id": "q2", "correct": false, "cell": "a"}\n'
    assert read_labels(text, ["a"], "people.jsonl") == {("a", "q1"): True, ("a", "q2"): False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question_id": "q1", "correct": true}', "line 1: `cell` says whose answer is labelled, one of a, b"),
        ('{"question_id": "q1", "correct": true, "cell": "c"}', "no cell 'c' answers in this run: a, b do"),
        ('{"question_id": "q1", "correct": "yes", "cell": "a"}', "line 1: correct: "),
        ('{"question_id": "q1", "right": true, "cell": "a"}', "people.jsonl, line 1: "),
        ("nonsense", "people.jsonl, line 1: the line: "),
        ('{"question_id": "q", "correct": true, "cell": "a"}\n' * 2, "line 2: labels 'q' of 'a' a second time"),
    ],
)
def test_what_is_no_label_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message.replace("(", r"\(")):
        read_labels(text, ["a", "b"], "people.jsonl")


def test_a_review_replaces_its_own_labels_and_leaves_those_that_were_handed_in() -> None:
    handed = '{"question_id": "q1", "correct": true}\n{"question_id": "q2", "correct": true}\n'
    first = [
        Label(question_id="q2", correct=False, cell="a", raters=2),
        Label(question_id="q3", correct=True, cell="a", raters=1),
    ]
    text = label_lines(reviewed_labels(labels_by_place(handed, ["a"], "x"), first))
    assert read_labels(text, ["a"], "x") == {("a", "q1"): True, ("a", "q2"): False, ("a", "q3"): True}
    then = [Label(question_id="q2", correct=False, cell="a", raters=2)]
    again = label_lines(reviewed_labels(labels_by_place(text, ["a"], "x"), then))
    assert read_labels(again, ["a"], "x") == {("a", "q1"): True, ("a", "q2"): False}
    assert label_lines(reviewed_labels(labels_by_place(again, ["a"], "x"), then)) == again


def test_an_id_with_a_line_separator_stays_on_its_line() -> None:
    strange = Label(question_id="q\u2028\u00e9", correct=True, cell="a")
    assert read_labels(label_lines([strange]), ["a"], "x") == {("a", "q\u2028\u00e9"): True}
