from __future__ import annotations

from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.errors import DatasetError
from arena.types import Dataset
from tests.unit.datasets.ragrouter.ragrouter_files import DOCUMENTS, QUESTIONS, Record, as_found, make_folder

MIXED_DOCUMENTS = (*DOCUMENTS[:2], *(row | {"doc_id": None} for row in map(as_found, DOCUMENTS[2:])))
"""As a table with the columns of both schemes holds them: nulls where a row has none."""


def load(folder: Path) -> Dataset:
    return load_dataset(f"ragrouter:{folder}")


@pytest.mark.parametrize("lines", [False, True], ids=["array", "lines"])
def test_the_columns_of_the_readme(tmp_path: Path, lines: bool) -> None:
    dataset = load(make_folder(tmp_path / "part", lines=lines))
    assert [document.doc_id for document in dataset.documents] == ["d1", "d2", "d3", "d4"]
    assert dataset.documents[3].title == "Quarn"
    asked = [(q.question_id, q.kind, q.hops, q.hop_shape) for q in dataset.questions]
    assert asked == [
        ("q1", "single_hop", 1, None),
        ("q2", "multi_hop", 2, None),
        ("q3", "summary", None, None),
        ("q4", "multi_hop", None, None),
    ]
    assert [gold.supporting_ids for gold in dataset.gold.values()] == [("d3",), ("d4", "d2"), ("d1", "d2", "d4"), ()]
    assert dataset.gold["q1"].answers == ("The Veyra was launched in 1811.",)
    assert dataset.gold["q2"].hop_order is None


@pytest.mark.parametrize("lines", [False, True], ids=["array", "lines"])
def test_the_columns_as_found(tmp_path: Path, lines: bool) -> None:
    folder = make_folder(tmp_path / "part", [*map(as_found, DOCUMENTS)], [*map(as_found, QUESTIONS)], lines=lines)
    dataset, plain = load(folder), load(make_folder(tmp_path / "plain"))
    assert [document.doc_id for document in dataset.documents] == ["1", "2", "3", "4"]
    assert dataset.questions == plain.questions
    supporting = {question_id: gold.supporting_ids for question_id, gold in dataset.gold.items()}
    assert supporting == {"q1": ("3",), "q2": ("4", "2"), "q3": ("1", "2", "4"), "q4": ()}


def test_both_schemes_in_one_file(tmp_path: Path) -> None:
    question = QUESTIONS[3] | {"supporting_facts": ["d1", {"doc_id": 3, "text": "..."}]}
    dataset = load(make_folder(tmp_path / "part", MIXED_DOCUMENTS, [as_found(QUESTIONS[0]), question]))
    assert [document.doc_id for document in dataset.documents] == ["d1", "d2", "3", "4"]
    assert dataset.gold["q4"].supporting_ids == ("d1", "3")


def test_evidence_may_be_told_by_its_text(tmp_path: Path) -> None:
    facts = [
        {"title": "Tolm", "paragraph_text": "Tolm was  founded by Ilse Brandt."},
        "Quarn is a town of weavers near Tolm.",
    ]
    dataset = load(make_folder(tmp_path / "part", questions=[QUESTIONS[3] | {"supporting_facts": facts}]))
    assert dataset.gold["q4"].supporting_ids == ("d2", "d4")


@pytest.mark.parametrize(
    "fact", [{"text": "Nobody says so."}, {"sentence": 3}, {"doc_id": [1]}, "Nobody says so.", ["Veyra", 0], None, 1.5]
)
def test_evidence_that_cannot_be_read_is_counted_and_not_guessed_at(tmp_path: Path, fact: object) -> None:
    question = QUESTIONS[3] | {"supporting_facts": ["d1", fact]}
    dataset = load(make_folder(tmp_path / "part", questions=[question]))
    assert dataset.gold["q4"].supporting_ids == ()
    assert any("1 name evidence that is neither an id nor the text of a document ('q4')" in n for n in dataset.notes)


def test_one_document_with_several_facts_supports_once_and_counts_as_hops(tmp_path: Path) -> None:
    question = QUESTIONS[1] | {"supporting_facts": [{"doc_id": "d4"}, {"doc_id": "d4"}, {"doc_id": "d2"}]}
    dataset = load(
        make_folder(tmp_path / "part", questions=[question, QUESTIONS[1] | {"question_id": 7, "num_hops": 5}])
    )
    assert dataset.gold["q2"].supporting_ids == ("d4", "d2")
    assert [(q.question_id, q.hops) for q in dataset.questions] == [("q2", 3), ("7", 5)]


def without(record: Record, name: str) -> Record:
    return {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (DOCUMENTS[0], "record 5: document id 'd1' was already used at "),
        (without(DOCUMENTS[0], "doc_id"), "record 5: no field 'doc_id' or 'id'; fields there: 'title', 'text'"),
        (without(DOCUMENTS[0], "text"), "record 5: no field 'text' or 'content' or 'context'; fields there"),
        (DOCUMENTS[0] | {"doc_id": "d5", "text": " "}, "record 5: field 'text' is blank"),
        (DOCUMENTS[0] | {"doc_id": "d5", "text": 5}, "record 5: field 'text' must be a string, not an integer: 5"),
        (DOCUMENTS[0] | {"doc_id": True}, "record 5: field 'doc_id' must be a string, not true or false"),
        (DOCUMENTS[0] | {"doc_id": "d5", "title": 1}, "record 5: field 'title' must be a string"),
    ],
)
def test_a_bad_document_is_named_with_its_fault(tmp_path: Path, bad: Record, message: str) -> None:
    folder = make_folder(tmp_path / "part", [*DOCUMENTS, bad])
    with pytest.raises(DatasetError) as caught:
        load(folder)
    assert str(caught.value).removeprefix(f"{folder / 'Corpus.json'}, ").startswith(message)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (QUESTIONS[0], "record 5: question id 'q1' was already used at "),
        (without(QUESTIONS[0], "question_id"), "record 5: no field 'question_id' or 'id'"),
        (without(QUESTIONS[0], "question"), "record 5: no field 'question'"),
        (without(QUESTIONS[0], "answer"), "record 5: no field 'answer'"),
        (without(QUESTIONS[0], "query_type"), "record 5: no field 'query_type' or 'type'"),
        (QUESTIONS[0] | {"answer": ""}, "record 5: field 'answer' is blank"),
        (QUESTIONS[0] | {"question": "  "}, "record 5: field 'question' is blank"),
        (QUESTIONS[0] | {"query_type": "reasonning"}, "record 5: unknown kind 'reasonning': did you mean 'reasoning'?"),
        (QUESTIONS[0] | {"supporting_facts": "d1"}, "record 5: field 'supporting_facts' must be a list, not a string"),
        (
            QUESTIONS[0] | {"question_id": "q9", "supporting_facts": ["d1", "d99"]},
            "record 5: question 'q9': 'supporting_facts[1]' names document 'd99', which is not in Corpus.json",
        ),
        (
            QUESTIONS[0] | {"question_id": "q9", "supporting_facts": [{"doc_id": 99}]},
            "record 5: question 'q9': 'supporting_facts[0]' names document '99', which is not in Corpus.json",
        ),
    ],
)
def test_a_bad_question_is_named_with_its_fault(tmp_path: Path, bad: Record, message: str) -> None:
    folder = make_folder(tmp_path / "part", questions=[*QUESTIONS, bad])
    with pytest.raises(DatasetError) as caught:
        load(folder)
    assert str(caught.value).removeprefix(f"{folder / 'Question.json'}, ").startswith(message)


@pytest.mark.parametrize(("file", "what"), [("Corpus.json", "documents"), ("Question.json", "questions")])
def test_an_empty_or_missing_file_is_refused(tmp_path: Path, file: str, what: str) -> None:
    folder = make_folder(tmp_path / "part")
    (folder / file).write_text("[]")
    with pytest.raises(DatasetError, match=rf"{file} holds no {what}"):
        load(folder)
    (folder / file).unlink()
    with pytest.raises(
        DatasetError, match=rf"{file}: no such file; a folder of RAGRouter-Bench holds Corpus\.json and"
    ):
        load(folder)
