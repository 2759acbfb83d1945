"""What every dataset must keep, wherever it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.datasets.table import known_datasets
from arena.types import KINDS, AnswerStyle, Claim, Dataset, Document, Gold, GoldSentence, Question, Task, well_formed
from tests.samples import small_dataset
from tests.unit.datasets.hotpot_files import hotpot_record, two_wiki_record, write_array
from tests.unit.datasets.ragrouter.ragrouter_files import (
    DOCUMENTS,
    QUESTIONS,
    as_found,
    make_folder,
    musique_records,
)


def musique_record(number: int, *, answerable: bool) -> dict[str, Any]:
    """A two-hop question in MuSiQue's own form; its twin lacks the second paragraph."""
    paragraphs = [
        ("Veyra", f"The Veyra {number} rises in Tolm.", answerable),
        ("Tolm", "Tolm was founded by Ilse Brandt.", answerable),
        ("Veyra", "Veyra was a ship launched in 1811.", False),
    ]
    return {
        "id": f"2hop__{number}_22",
        "question": f"Who founded the place where the Veyra {number} rises?",
        "answer": "Ilse Brandt",
        "answer_aliases": ["I. Brandt"],
        "answerable": answerable,
        "question_decomposition": [
            {"id": number, "question": "Where does it rise?", "answer": "Tolm", "paragraph_support_idx": 0},
            {"id": 22, "question": "Who founded #1?", "answer": "Ilse Brandt", "paragraph_support_idx": 1},
        ],
        "paragraphs": [
            {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supporting}
            for idx, (title, text, supporting) in enumerate(paragraphs)
        ],
    }


def musique_file(folder: Path) -> str:
    path = folder / "musique.jsonl"
    records = [musique_record(number, answerable=answerable) for number in (11, 12) for answerable in (True, False)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return f"musique:{path}"


def hotpotqa_file(folder: Path) -> str:
    return f"hotpotqa:{write_array(folder / 'hotpot.json', hotpot_record(), hotpot_record(_id='5a02'))}"


def two_wiki_file(folder: Path) -> str:
    return f"2wikimultihopqa:{write_array(folder / 'dev.json', two_wiki_record(), two_wiki_record(_id='8f03'))}"


def ragrouter_folder(folder: Path) -> str:
    return f"ragrouter:{make_folder(folder / 'part', musique=musique_records())}"


def ragrouter_as_found(folder: Path) -> str:
    found = make_folder(folder / "found", [*map(as_found, DOCUMENTS)], [*map(as_found, QUESTIONS)], lines=True)
    return f"ragrouter:{found}"


def jsonl_data(folder: Path) -> str:
    write_jsonl(small_dataset(), folder / "data")
    return f"jsonl:{folder / 'data'}"


SPECS: dict[str, Callable[[Path], str]] = {
    "2wikimultihopqa": two_wiki_file,
    "hotpotqa": hotpotqa_file,
    "jsonl": jsonl_data,
    "musique": musique_file,
    "ragrouter": ragrouter_folder,
    "ragrouter:found": ragrouter_as_found,
    "world": lambda folder: "world",
    "world:120:3": lambda folder: "world:120:3",
}


@pytest.fixture(scope="module", params=SPECS)
def spec(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The way a user would write one dataset."""
    return SPECS[request.param](tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def loaded(spec: str) -> Dataset:
    return load_dataset(spec)


def test_the_table_is_covered() -> None:
    assert {name.partition(":")[0] for name in SPECS} == set(known_datasets())


def test_it_is_named_as_it_was_asked_for(spec: str, loaded: Dataset) -> None:
    assert loaded.name == spec


def test_ids_are_unique(loaded: Dataset) -> None:
    for ids in ([d.doc_id for d in loaded.documents], [q.question_id for q in loaded.questions]):
        assert ids
        assert len(set(ids)) == len(ids)


def test_every_question_has_its_gold_and_no_other_has(loaded: Dataset) -> None:
    assert set(loaded.gold) == {question.question_id for question in loaded.questions}
    assert all(gold.question_id == question_id for question_id, gold in loaded.gold.items())


def test_the_evidence_is_in_the_corpus(loaded: Dataset) -> None:
    corpus = {document.doc_id for document in loaded.documents}
    for gold in loaded.gold.values():
        assert set(gold.supporting_ids) <= corpus
        assert set(gold.hop_order or ()) <= set(gold.supporting_ids)
        assert {doc_id for claim in gold.claims for doc_id in claim.supporting_ids} <= corpus


def test_unanswerable_is_the_same_as_without_answers(loaded: Dataset) -> None:
    for question in loaded.questions:
        gold = loaded.gold[question.question_id]
        assert (question.kind == "unanswerable") == (not gold.answers) == (not gold.answerable)
        assert all(answer.strip() for answer in gold.answers)


def test_texts_say_something_and_can_be_written_down(loaded: Dataset) -> None:
    for text in (*(d.text for d in loaded.documents), *(q.text for q in loaded.questions)):
        assert text.strip()
        assert well_formed(text) == text


def test_two_loads_give_the_same(spec: str, loaded: Dataset) -> None:
    assert load_dataset(spec) == loaded
    assert loaded.fingerprint == fingerprint(loaded.documents, loaded.questions, loaded.gold)


def test_a_task_hides_what_would_give_the_answer_away(loaded: Dataset) -> None:
    assert [field.name for field in fields(Task)] == ["question", "style"]
    for question in loaded.questions:
        style: AnswerStyle = "summary" if question.kind == "summary" else "short"
        assert question.task == Task(question.text, style)
        alike = [kind for kind in KINDS if (kind == "summary") == (style == "summary")]
        for kind in alike:
            other = replace(question, question_id="x", kind=kind, hops=9, hop_shape="4hop3", split="x")
            assert other.task == question.task


def edits(dataset: Dataset) -> Iterator[tuple[str, tuple[Document, ...], tuple[Question, ...], dict[str, Gold]]]:
    """The dataset with one thing changed: each field of its last document, question and gold, then the order."""
    documents, questions, gold = dataset.documents, dataset.questions, dict(dataset.gold)
    document, question = documents[-1], questions[-1]
    right = gold[question.question_id]
    for changed in (
        replace(document, doc_id="x"),
        replace(document, title=document.title + "x"),
        replace(document, text=document.text + "x"),
        replace(document, metadata={**document.metadata, "x": 1}),
    ):
        yield f"{changed}", (*documents[:-1], changed), questions, gold
    for asked in (
        replace(question, question_id="x"),
        replace(question, text=question.text + "x"),
        replace(question, kind="single_hop" if question.kind != "single_hop" else "multi_hop"),
        replace(question, hops=9),
        replace(question, hop_shape="x"),
        replace(question, split="x"),
    ):
        yield f"{asked}", documents, (*questions[:-1], asked), gold
    for known in (
        replace(right, question_id="x"),
        replace(right, answers=(*right.answers, "x")),
        replace(right, supporting_ids=(*right.supporting_ids, "x")),
        replace(right, hop_order=(*(right.hop_order or ()), "x")),
        replace(right, answerable=not right.answerable),
        replace(right, claims=(*right.claims, Claim("x", ()))),
        replace(right, sentences=(*right.sentences, GoldSentence("x", 0, 1))),
    ):
        yield f"{known}", documents, questions, gold | {question.question_id: known}
    yield "documents in another order", documents[::-1], questions, gold
    yield "questions in another order", documents, questions[::-1], gold
    yield "a document less", documents[:-1], questions, gold
    yield "a question less", documents, questions[:-1], gold


def test_any_edit_changes_the_fingerprint(loaded: Dataset) -> None:
    changed = {what: fingerprint(documents, questions, gold) for what, documents, questions, gold in edits(loaded)}
    assert len(set(changed.values()) | {loaded.fingerprint}) == len(changed) + 1


def test_an_edit_covers_every_field() -> None:
    """A field that someone adds to a record is to be added to `edits` too, unless it follows from the loader."""
    counted = [
        [one.name for one in fields(record) if "of_the_loader" not in one.metadata]
        for record in (Document, Question, Gold)
    ]
    assert [len(names) for names in counted] == [4, 6, 7]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("2wikimultihopqa", "dev.json"),
        ("hotpotqa", "hotpot.json"),
        ("jsonl", "corpus.jsonl"),
        ("jsonl", "questions.jsonl"),
        ("musique", "musique.jsonl"),
        ("ragrouter", "Corpus.json"),
        ("ragrouter", "Question.json"),
    ],
)
def test_an_edited_file_is_another_dataset(tmp_path: Path, name: str, file: str) -> None:
    spec = SPECS[name](tmp_path)
    before = load_dataset(spec).fingerprint
    (path,) = tmp_path.rglob(file)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("the", "a", 1), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    assert load_dataset(spec).fingerprint != before
