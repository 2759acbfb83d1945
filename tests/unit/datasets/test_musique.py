from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.datasets.musique import load_musique, official_id, read_musique
from arena.errors import DatasetError

Record = dict[str, Any]


def paragraph(idx: int, title: str, text: str, supporting: bool = False) -> Record:
    return {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supporting}


def record(**changes: Any) -> Record:
    """A two-hop question over four invented paragraphs, two of which share a title."""
    base: Record = {
        "id": "2hop__11_22",
        "paragraphs": [
            paragraph(0, "Veyra", "Veyra is a river that rises in Tolm.", supporting=True),
            paragraph(1, "Veyra", "Veyra was a ship launched in 1811."),
            paragraph(2, "Tolm", "Tolm was founded by Ilse Brandt.", supporting=True),
            paragraph(3, "Quarn", "Quarn is a town of weavers."),
        ],
        "question": "Who founded the place where the Veyra rises?",
        "question_decomposition": [
            {"id": 22, "question": "Where does the Veyra rise?", "answer": "Tolm", "paragraph_support_idx": 0},
            {"id": 11, "question": "Who founded #1?", "answer": "Ilse Brandt", "paragraph_support_idx": 2},
        ],
        "answer": "Ilse Brandt",
        "answer_aliases": ["I. Brandt", "Ilse Brandt"],
        "answerable": True,
    }
    return base | changes


def write(folder: Path, *records: Record) -> Path:
    path = folder / "musique.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def complaint(folder: Path, *records: Record) -> str:
    with pytest.raises(DatasetError) as caught:
        load_musique(write(folder, *records))
    return str(caught.value).removeprefix(str(folder / "musique.jsonl"))


def test_reads_question_answers_and_gold_in_hop_order(tmp_path: Path) -> None:
    path = write(tmp_path, record())
    dataset = load_musique(path)
    (question,) = dataset.questions
    gold = dataset.gold["2hop__11_22"]
    titles = {document.doc_id: (document.title, document.text[:14]) for document in dataset.documents}
    assert dataset.name == f"musique:{path}"
    assert (question.text, question.kind) == ("Who founded the place where the Veyra rises?", "multi_hop")
    assert gold.answers == ("Ilse Brandt", "I. Brandt")
    assert gold.answerable
    assert [titles[doc_id] for doc_id in gold.supporting_ids] == [
        ("Veyra", "Veyra is a riv"),
        ("Tolm", "Tolm was found"),
    ]
    assert gold.hop_order == gold.supporting_ids


@pytest.mark.parametrize(
    ("official", "hops", "shape"),
    [
        ("2hop__1_2", 2, "2hop"),
        ("3hop1__1_2_3", 3, "3hop1"),
        ("3hop2__1_2_3", 3, "3hop2"),
        ("4hop1__1_2_3_4", 4, "4hop1"),
        ("4hop2__1_2_3_4", 4, "4hop2"),
        ("4hop3__1_2_3_4", 4, "4hop3"),
        ("5hop__1", None, None),
        ("question-7", None, None),
    ],
)
def test_hops_and_shape_come_from_the_id(tmp_path: Path, official: str, hops: int | None, shape: str | None) -> None:
    dataset = load_musique(write(tmp_path, record(id=official)))
    assert (dataset.questions[0].hops, dataset.questions[0].hop_shape) == (hops, shape)
    assert any("their hops are unknown" in note for note in dataset.notes) == (hops is None)


def test_paragraphs_are_pooled_by_title_and_text(tmp_path: Path) -> None:
    other = record(
        id="2hop__33_44",
        paragraphs=[
            paragraph(0, "Quarn", "Quarn is a town of weavers.", supporting=True),
            paragraph(1, "Quarn", "Quarn is a guild of weavers."),
            paragraph(2, "Tolm", "Tolm was founded by Ilse Brandt.", supporting=True),
        ],
        question_decomposition=[{"paragraph_support_idx": 2}, {"paragraph_support_idx": 0}],
    )
    pooled = read_musique(write(tmp_path, record(), other))
    documents = pooled.dataset.documents
    assert [document.title for document in documents] == ["Veyra", "Veyra", "Tolm", "Quarn", "Quarn"]
    assert len({document.doc_id for document in documents}) == 5
    first, second = pooled.paragraph_ids["2hop__11_22"], pooled.paragraph_ids["2hop__33_44"]
    assert (second[0], second[2]) == (first[3], first[2])
    assert pooled.dataset.gold["2hop__33_44"].hop_order == (first[2], first[3])


def test_ids_of_documents_depend_on_title_and_text_alone(tmp_path: Path) -> None:
    turned = record(paragraphs=list(reversed(record()["paragraphs"])))
    ids = {document.doc_id for document in load_musique(write(tmp_path, record())).documents}
    assert {document.doc_id for document in load_musique(write(tmp_path, turned)).documents} == ids
    assert all("Veyra" not in doc_id and len(doc_id) == 13 for doc_id in ids)


def test_a_paragraph_twice_in_one_record_is_one_document(tmp_path: Path) -> None:
    repeated = [*record()["paragraphs"], paragraph(4, "Tolm", "Tolm was founded by Ilse Brandt.", supporting=True)]
    pooled = read_musique(write(tmp_path, record(paragraphs=repeated)))
    ids = pooled.paragraph_ids["2hop__11_22"]
    assert ids[4] == ids[2]
    assert pooled.dataset.gold["2hop__11_22"].supporting_ids == (ids[0], ids[2])


def test_an_unanswerable_twin_gets_its_own_id_and_no_gold(tmp_path: Path) -> None:
    twin = record(
        answerable=False,
        paragraphs=[paragraph(0, "Veyra", "Veyra is a river that rises in Tolm.", supporting=True)],
        question_decomposition=[{"paragraph_support_idx": 0}, {"paragraph_support_idx": None}],
    )
    dataset = load_musique(write(tmp_path, record(), twin))
    ids = [question.question_id for question in dataset.questions]
    assert ids == ["2hop__11_22", "2hop__11_22#unanswerable"]
    assert [official_id(question_id) for question_id in ids] == ["2hop__11_22"] * 2
    assert [question.kind for question in dataset.questions] == ["multi_hop", "unanswerable"]
    assert dataset.questions[1].hops == 2
    gold = dataset.gold[ids[1]]
    assert (gold.answers, gold.supporting_ids, gold.hop_order, gold.answerable) == ((), (), None, False)
    assert any("brings back the paragraph" in note for note in dataset.notes)


def test_the_answerable_setting_says_nothing_about_twins(tmp_path: Path) -> None:
    assert not any("twin" in note for note in load_musique(write(tmp_path, record())).notes)


@pytest.mark.parametrize(
    "decomposition",
    [None, [{"paragraph_support_idx": 0}, {"paragraph_support_idx": None}], [{"paragraph_support_idx": 0}]],
    ids=["absent", "unlabelled hop", "other paragraphs"],
)
def test_no_hop_order_where_the_decomposition_gives_none(tmp_path: Path, decomposition: list[Record] | None) -> None:
    dataset = load_musique(write(tmp_path, record(question_decomposition=decomposition)))
    gold = dataset.gold["2hop__11_22"]
    assert gold.hop_order is None
    assert len(gold.supporting_ids) == 2


def test_the_same_file_gives_the_same_fingerprint(tmp_path: Path) -> None:
    first = load_musique(write(tmp_path, record()))
    assert load_musique(write(tmp_path, record())) == first
    assert load_musique(write(tmp_path, record(answer="Ilse"))).fingerprint != first.fingerprint


def without(field: str) -> Record:
    return {name: value for name, value in record().items() if name != field}


def broken_paragraph(**changes: Any) -> Record:
    first, *rest = record()["paragraphs"]
    return record(paragraphs=[first, *rest[:-1], rest[-1] | changes])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (without("id"), ":2: no field 'id'; fields there: 'paragraphs'"),
        (without("question"), ":2: no field 'question'"),
        (without("paragraphs") | {"id": "2hop__5"}, ":2: no field 'paragraphs'"),
        (without("answer") | {"id": "2hop__5"}, ":2: no field 'answer'; MuSiQue's test files hide their labels"),
        (record(id="2hop__5", answer=" "), ":2: field 'answer' is blank"),
        (record(id="2hop__5", answer_aliases=[1]), ":2: field 'answer_aliases[0]' must be a string"),
        (record(id="2hop__5", answerable="yes"), ":2: field 'answerable' must be true or false"),
        (record(id="2hop__5", paragraphs=[1]), ":2: field 'paragraphs[0]' must be an object"),
        (record(id="2hop__5", paragraphs=[]), ":2: no paragraph has 'is_supporting' true"),
        (broken_paragraph(idx="3") | {"id": "2hop__5"}, ":2, paragraphs[3]: field 'idx' must be an integer"),
        (broken_paragraph(idx=0) | {"id": "2hop__5"}, ":2, paragraphs[3]: idx 0 was already used"),
        (broken_paragraph(title=None) | {"id": "2hop__5"}, ":2, paragraphs[3]: field 'title' must be a string"),
        (
            record(id="2hop__5", question_decomposition=[{"paragraph_support_idx": 9}]),
            ":2, question_decomposition[0]: 'paragraph_support_idx' is 9, but no paragraph",
        ),
        (record(), ":2: a second answerable record with id '2hop__11_22'"),
    ],
)
def test_a_bad_record_is_named_with_its_fault(tmp_path: Path, bad: Record, message: str) -> None:
    assert complaint(tmp_path, record(), bad).startswith(message)


def test_a_second_twin_is_a_repeated_id(tmp_path: Path) -> None:
    twin = record(answerable=False)
    assert complaint(tmp_path, record(), twin, twin).startswith(":3: a second unanswerable record")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert complaint(tmp_path) == " holds no records; expected one MuSiQue record per line"
