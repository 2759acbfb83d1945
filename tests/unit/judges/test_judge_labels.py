from __future__ import annotations

import pytest

from arena.errors import DatasetError
from arena.judges.labels import read_labels


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
