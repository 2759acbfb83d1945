from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.datasets.jsonl import load_jsonl
from arena.errors import DatasetError
from arena.types import Claim, Document

Fields = dict[str, Any]

CORPUS: list[Fields] = [
    {"doc_id": "d1", "title": "Veyra", "text": "Veyra is a river that rises in Tolm.", "year": 1900},
    {"doc_id": "d2", "title": "Tolm", "text": "Tolm was founded by Ilse Brandt."},
]


def question(**changes: Any) -> Fields:
    base = {"question_id": "q1", "question": "Who founded Tolm?", "answers": ["Ilse Brandt"], "supporting_ids": ["d2"]}
    return base | changes


def write(folder: Path, corpus: list[Fields], questions: list[Fields]) -> Path:
    for name, rows in (("corpus.jsonl", corpus), ("questions.jsonl", questions)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def complaint(folder: Path, corpus: list[Fields], questions: list[Fields]) -> str:
    with pytest.raises(DatasetError) as caught:
        load_jsonl(write(folder, corpus, questions))
    return str(caught.value).removeprefix(f"{folder}/")


def test_reads_documents_questions_and_gold_in_file_order(tmp_path: Path) -> None:
    full = question(
        question_id="q2",
        answers=["Ilse Brandt", "Brandt"],
        supporting_ids=["d2", "d1"],
        kind="multi_hop",
        hops=2,
        hop_shape="2hop",
        hop_order=["d1", "d2"],
        claims=[{"text": "Tolm was founded by Ilse Brandt.", "supporting_ids": ["d2"]}],
        split="dev",
    )
    dataset = load_jsonl(write(tmp_path, CORPUS, [question(), full]))
    assert dataset.name == f"jsonl:{tmp_path}"
    assert dataset.documents[0] == Document("d1", "Veyra", "Veyra is a river that rises in Tolm.", {"year": 1900})
    assert [one.question_id for one in dataset.questions] == ["q1", "q2"]
    second, gold = dataset.questions[1], dataset.gold["q2"]
    assert (second.kind, second.hops, second.hop_shape, second.split) == ("multi_hop", 2, "2hop", "dev")
    assert (gold.answers, gold.supporting_ids, gold.hop_order) == (
        ("Ilse Brandt", "Brandt"),
        ("d2", "d1"),
        ("d1", "d2"),
    )
    assert gold.claims == (Claim("Tolm was founded by Ilse Brandt.", ("d2",)),)


def test_optional_fields_default_to_nothing(tmp_path: Path) -> None:
    dataset = load_jsonl(write(tmp_path, [{"doc_id": "d2", "text": "x"}], [question()]))
    assert dataset.documents == (Document("d2", "", "x"),)
    asked, gold = dataset.questions[0], dataset.gold["q1"]
    assert (asked.hops, asked.hop_shape, asked.split, gold.hop_order, gold.claims) == (None, None, None, None, ())


def test_metadata_may_stand_beside_or_inside_its_own_object(tmp_path: Path) -> None:
    corpus = [CORPUS[0] | {"metadata": {"place": "north", "title": "inner", "seen": None}}, CORPUS[1]]
    documents = load_jsonl(write(tmp_path, corpus, [question()])).documents
    assert documents[0].title == "Veyra"
    assert documents[0].metadata == {"year": 1900, "place": "north", "title": "inner", "seen": None}


@pytest.mark.parametrize(
    ("answers", "supporting_ids", "kind", "answerable"),
    [
        (["x"], ["d1", "d2"], "multi_hop", True),
        (["x"], ["d1"], "single_hop", True),
        (["x"], ["d1", "d1"], "single_hop", True),
        (["x"], [], "single_hop", True),
        ([], ["d1"], "unanswerable", False),
    ],
)
def test_kind_is_inferred_when_not_given(
    tmp_path: Path, answers: list[str], supporting_ids: list[str], kind: str, answerable: bool
) -> None:
    dataset = load_jsonl(write(tmp_path, CORPUS, [question(answers=answers, supporting_ids=supporting_ids)]))
    assert dataset.questions[0].kind == kind
    assert dataset.gold["q1"].answerable is answerable


def test_a_given_kind_is_kept(tmp_path: Path) -> None:
    rows = [question(kind="summary"), question(question_id="q2", kind="unanswerable", answers=[], supporting_ids=[])]
    dataset = load_jsonl(write(tmp_path, CORPUS, rows))
    assert [one.kind for one in dataset.questions] == ["summary", "unanswerable"]
    assert [dataset.gold[one].answerable for one in ("q1", "q2")] == [True, False]


CORPUS_FAULTS: list[tuple[list[Fields], str]] = [
    ([], "corpus.jsonl: the corpus is empty"),
    ([*CORPUS, CORPUS[0]], "corpus.jsonl:3: doc_id 'd1' was already used at"),
    ([{"title": "t", "text": "x"}], "corpus.jsonl:1: no field 'doc_id'; fields there: 'title', 'text'"),
    ([{"doc_id": "d1", "titel": "t"}], "corpus.jsonl:1: no field 'text'"),
    ([{"doc_id": 1, "text": "x"}], "corpus.jsonl:1: field 'doc_id' must be a string, not an integer: 1"),
    ([{"doc_id": "", "text": "x"}], "corpus.jsonl:1: field 'doc_id' is blank"),
    ([{"doc_id": "d1", "text": "x", "tags": ["a"]}], "corpus.jsonl:1: metadata 'tags' must be a single value"),
    ([{"doc_id": "d1", "text": "x", "metadata": "a"}], "corpus.jsonl:1: field 'metadata' must be an object"),
    ([{"doc_id": "d1", "text": "x", "a": 1, "metadata": {"a": 1}}], "corpus.jsonl:1: field 'a' stands both beside"),
]


@pytest.mark.parametrize(("corpus", "message"), CORPUS_FAULTS, ids=[message for _, message in CORPUS_FAULTS])
def test_a_bad_corpus_is_named_with_its_fault(tmp_path: Path, corpus: list[Fields], message: str) -> None:
    assert complaint(tmp_path, corpus, [question()]).startswith(message)


QUESTION_FAULTS: list[tuple[list[Fields], str]] = [
    ([], "questions.jsonl: there are no questions"),
    ([question(), question()], "questions.jsonl:2: question_id 'q1' was already used at"),
    ([question(supporting_ids=["d2", "d9"])], "questions.jsonl:1: 'supporting_ids' holds 'd9', which is not in corpus"),
    (
        [question(claims=[{"text": "c", "supporting_ids": ["d8"]}])],
        "questions.jsonl:1: 'claims' holds 'd8', which is not in corpus.jsonl",
    ),
    ([question(hop_order=["d1"])], "questions.jsonl:1: 'hop_order' holds 'd1', which is not in 'supporting_ids'"),
    ([{"question_id": "q1"}], "questions.jsonl:1: no field 'answers'; fields there: 'question_id'"),
    ([question(answers="Ilse")], "questions.jsonl:1: field 'answers' must be a list, not a string: 'Ilse'"),
    ([question(answers=["x", " "])], "questions.jsonl:1: one of 'answers' is blank"),
    ([question(answers=[], kind="single_hop")], "questions.jsonl:1: 'answers' is empty, yet kind is 'single_hop'"),
    ([question(kind="multihop")], "questions.jsonl:1: unknown kind 'multihop': did you mean 'multi_hop'? known are"),
    ([question(kind="zzz")], "questions.jsonl:1: unknown kind 'zzz': known are multi_hop, single_hop, summary"),
    ([question(question="")], "questions.jsonl:1: field 'question' is blank"),
    ([question(hops="2")], "questions.jsonl:1: field 'hops' must be an integer"),
    ([question(claims=[{"text": "c"}])], "questions.jsonl:1, claims[0]: no field 'supporting_ids'"),
    ([question(claim=[])], "questions.jsonl:1: unknown field 'claim': did you mean 'claims'?"),
]


@pytest.mark.parametrize(("questions", "message"), QUESTION_FAULTS, ids=[message for _, message in QUESTION_FAULTS])
def test_bad_questions_are_named_with_their_fault(tmp_path: Path, questions: list[Fields], message: str) -> None:
    assert complaint(tmp_path, CORPUS, questions).startswith(message)


def test_a_field_of_ones_own_is_let_be(tmp_path: Path) -> None:
    assert load_jsonl(write(tmp_path, CORPUS, [question(difficulty="hard")])).questions


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"corpus\.jsonl: no such file"):
        load_jsonl(tmp_path)
    write(tmp_path, CORPUS, [question()])
    (tmp_path / "questions.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"questions\.jsonl: no such file"):
        load_jsonl(tmp_path)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    path = write(tmp_path, CORPUS, [question()]) / "corpus.jsonl"
    with pytest.raises(DatasetError, match=r"corpus\.jsonl is a file; name the folder"):
        load_jsonl(path)
