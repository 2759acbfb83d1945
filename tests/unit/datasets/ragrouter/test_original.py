"""Recovering what MuSiQue knows of RAGRouter-Bench's original questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.errors import DatasetError
from arena.types import Dataset
from tests.unit.datasets.ragrouter.ragrouter_files import (
    DOCUMENTS,
    QUESTIONS,
    Record,
    make_folder,
    musique_records,
    write,
)


def load(folder: Path) -> Dataset:
    return load_dataset(f"ragrouter:{folder}")


@pytest.mark.parametrize("by_id", [False, True], ids=["by text", "by id"])
def test_evidence_aliases_and_hops_of_an_original_question_are_recovered(tmp_path: Path, by_id: bool) -> None:
    original = QUESTIONS[3] | ({"question_id": "2hop__11_22", "question": "In other words?"} if by_id else {})
    dataset = load(make_folder(tmp_path / "part", questions=[*QUESTIONS[:3], original], musique=musique_records()))
    question, gold = dataset.questions[3], dataset.gold[original["question_id"]]
    assert gold.supporting_ids == ("d2", "d1")
    assert gold.hop_order == ("d1", "d2")
    assert gold.answers == ("Ilse Brandt", "I. Brandt")
    assert (question.kind, question.hops, question.hop_shape) == ("multi_hop", 2, "2hop")
    found = f"{int(by_id)} found by id, {int(not by_id)} by text"
    assert any(
        f"1 of 4 questions are in MuSiQue (musique_ans_v1.0_dev.jsonl): {found}" in note for note in dataset.notes
    )
    assert not any("no supporting documents" in note for note in dataset.notes)


def test_the_answer_of_the_benchmark_stays_the_main_one(tmp_path: Path) -> None:
    original = QUESTIONS[3] | {"answer": "Brandt"}
    dataset = load(make_folder(tmp_path / "part", questions=[original], musique=musique_records()))
    assert dataset.gold["q4"].answers == ("Brandt", "Ilse Brandt", "I. Brandt")


def test_evidence_of_its_own_is_kept(tmp_path: Path) -> None:
    original = QUESTIONS[3] | {"supporting_facts": ["d1"]}
    dataset = load(make_folder(tmp_path / "part", questions=[original], musique=musique_records()))
    gold = dataset.gold["q4"]
    assert (gold.supporting_ids, gold.hop_order) == (("d1",), None)
    assert gold.answers == ("Ilse Brandt", "I. Brandt")


def test_a_paragraph_that_is_no_document_leaves_the_question_without_and_is_reported(tmp_path: Path) -> None:
    dataset = load(make_folder(tmp_path / "part", DOCUMENTS[:1], [QUESTIONS[3]], musique=musique_records()))
    assert dataset.gold["q4"].supporting_ids == ()
    assert dataset.gold["q4"].answers == ("Ilse Brandt", "I. Brandt")
    (note,) = [note for note in dataset.notes if "no supporting documents" in note]
    assert "1 need a paragraph of MuSiQue that no document is ('q4')" in note


def test_a_question_that_nobody_knows_is_reported(tmp_path: Path) -> None:
    strange = QUESTIONS[3] | {"question": "Who else?"}
    dataset = load(make_folder(tmp_path / "part", questions=[strange], musique=musique_records()))
    assert any("1 name none ('q4')" in note for note in dataset.notes)


def test_without_musique_the_notes_say_how_to_name_it(tmp_path: Path) -> None:
    notes = load(make_folder(tmp_path / "part")).notes
    (note,) = [note for note in notes if "no supporting documents" in note]
    assert note.startswith(
        "1 of 4 questions have no supporting documents, so metrics of retrieval and support are undefined"
    )
    assert "ragrouter:FOLDER:musique_ans_v1.0_dev.jsonl" in note


def test_musique_may_be_named(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "part")
    file = write(tmp_path / "mu:sique.jsonl", musique_records(), lines=True)
    dataset = load_dataset(f"ragrouter:{folder}:{file}")
    assert dataset.gold["q4"].supporting_ids == ("d2", "d1")
    with pytest.raises(DatasetError, match=r"gone\.jsonl: no such file"):
        load_dataset(f"ragrouter:{folder}:{tmp_path / 'gone.jsonl'}")


def same_text(**changes: object) -> Record:
    return musique_records(id="2hop__33_44", **changes)[0]


@pytest.mark.parametrize(("answer", "found"), [("Someone", True), ("Ilse Brandt", False)])
def test_of_two_records_with_one_text_the_answer_decides(tmp_path: Path, answer: str, found: bool) -> None:
    """Two that have the answer as well cannot be told apart."""
    musique = [*musique_records(), same_text(answer=answer, answer_aliases=[])]
    dataset = load(make_folder(tmp_path / "part", questions=[QUESTIONS[3]], musique=musique))
    assert bool(dataset.gold["q4"].supporting_ids) == found


def test_a_corpus_without_titles_is_matched_by_its_texts(tmp_path: Path) -> None:
    untitled = [{"id": row["doc_id"], "content": row["text"]} for row in DOCUMENTS]
    with_title = [{"id": row["doc_id"], "content": f"{row['title']}\n{row['text']}"} for row in DOCUMENTS]
    for number, documents in enumerate((untitled, with_title)):
        folder = make_folder(tmp_path / str(number), documents, [QUESTIONS[3]], musique=musique_records())
        assert load(folder).gold["q4"].supporting_ids == ("d2", "d1")


def test_a_text_that_two_documents_share_decides_nothing(tmp_path: Path) -> None:
    twice = [{"id": f"{row['doc_id']}{half}", "text": row["text"]} for row in DOCUMENTS for half in "ab"]
    dataset = load(make_folder(tmp_path / "part", twice, [QUESTIONS[3]], musique=musique_records()))
    assert dataset.gold["q4"].supporting_ids == ()
