from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.datasets import is_known_as
from arena.datasets.hotpot import load_hotpotqa, load_two_wiki
from arena.datasets.jsonl import load_jsonl, write_jsonl
from arena.datasets.records import fingerprint
from arena.errors import DatasetError
from arena.types import Dataset
from tests.unit.datasets.hotpot_files import Record, hotpot_record, two_wiki_record, write_array, write_lines


def texts(dataset: Dataset, question_id: str) -> list[str]:
    documents = {document.doc_id: document.text for document in dataset.documents}
    return [documents[doc_id] for doc_id in dataset.gold[question_id].supporting_ids]


def test_hotpotqa_pools_paragraphs_by_title_and_text(tmp_path: Path) -> None:
    other = hotpot_record(_id="5a02", context=[*hotpot_record()["context"][1:], ["Quarn", ["Quarn is a guild."]]])
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record(), other))
    assert [document.title for document in dataset.documents] == ["Veyra", "Veyra", "Tolm", "Quarn", "Quarn"]
    assert dataset.documents[1].text == "Veyra is a river. It rises in Tolm."
    question, gold = dataset.questions[0], dataset.gold["5a01"]
    assert (question.kind, question.hops, question.hop_shape) == ("multi_hop", 2, None)
    assert (gold.answers, gold.hop_order) == (("Ilse Brandt",), None)
    assert "pooled" in dataset.notes[0]


def test_of_two_paragraphs_with_a_title_the_one_with_the_sentence_supports(tmp_path: Path) -> None:
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record()))
    assert texts(dataset, "5a01") == [
        "Veyra is a river. It rises in Tolm.",
        "Tolm was founded by Ilse Brandt. It lies high.",
    ]


def sentences(dataset: Dataset, question_id: str) -> list[str]:
    documents = {document.doc_id: document.text for document in dataset.documents}
    return [documents[one.doc_id][one.start : one.end] for one in dataset.gold[question_id].sentences]


def test_the_sentences_that_carry_the_evidence_are_kept_as_spans(tmp_path: Path) -> None:
    hotpot = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record()))
    assert sentences(hotpot, "5a01") == ["It rises in Tolm.", "Tolm was founded by Ilse Brandt."]
    two_wiki = load_two_wiki(write_array(tmp_path / "wiki.json", two_wiki_record()))
    assert sentences(two_wiki, "8f02") == [
        *("Asch is a film by Ina Fell.", "Borl is a film by Ulf Marr.", "She is from Quarn.", "Ulf Marr is from Quarn.")
    ]


@pytest.mark.parametrize("wrong", [[["Tolm", 0], ["Tolm", 9]], [["Tolm", 0], ["Veyra", -1]]])
def test_a_sentence_that_is_not_there_leaves_the_question_without_sentence_gold(tmp_path: Path, wrong: object) -> None:
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record(supporting_facts=wrong)))
    assert dataset.gold["5a01"].supporting_ids
    assert dataset.gold["5a01"].sentences == ()


def test_sentence_gold_is_part_of_the_identity_and_the_one_before_it_is_still_known(tmp_path: Path) -> None:
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record()))
    moved = load_hotpotqa(
        write_array(tmp_path / "moved.json", hotpot_record(supporting_facts=[["Veyra", 1], ["Tolm", 1]]))
    )
    assert dataset.fingerprint != moved.fingerprint
    without = {name: replace(gold, sentences=()) for name, gold in dataset.gold.items()}
    before = fingerprint(dataset.documents, dataset.questions, without)
    assert before != dataset.fingerprint
    assert is_known_as(dataset, dataset.fingerprint)
    assert is_known_as(dataset, before)
    assert not is_known_as(dataset, moved.fingerprint)
    assert not is_known_as(dataset, None)


def test_sentence_gold_survives_json_lines(tmp_path: Path) -> None:
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record()))
    write_jsonl(dataset, tmp_path / "lines")
    again = load_jsonl(tmp_path / "lines")
    assert again.gold["5a01"].sentences == dataset.gold["5a01"].sentences
    assert again.fingerprint == dataset.fingerprint


def test_a_title_stands_for_the_questions_own_paragraph(tmp_path: Path) -> None:
    """Another question's paragraph of the same title is another document."""
    other = hotpot_record(
        _id="5a02",
        supporting_facts=[["Veyra", 0]],
        context=[["Veyra", ["Veyra is a mountain."]]],
    )
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record(), other))
    assert texts(dataset, "5a02") == ["Veyra is a mountain."]


@pytest.mark.parametrize(
    ("title", "written"),
    [("Café", "Cafe\u0301"), ("Tom &amp; Ida", "Tom & Ida"), ("iPhone", "IPhone")],
    ids=["Unicode form", "HTML escape", "case"],
)
def test_titles_match_however_the_file_writes_them(tmp_path: Path, title: str, written: str) -> None:
    record = hotpot_record(supporting_facts=[[written, 0]], context=[[title, ["It is here."]]])
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", record))
    assert texts(dataset, "5a01") == ["It is here."]
    assert dataset.documents[0].title == title


def test_a_sentence_number_past_the_end_still_names_the_paragraph(tmp_path: Path) -> None:
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record(supporting_facts=[["Tolm", 9]])))
    assert texts(dataset, "5a01") == ["Tolm was founded by Ilse Brandt. It lies high."]


def test_a_missing_gold_paragraph_leaves_the_question_without_and_is_reported(tmp_path: Path) -> None:
    missing = hotpot_record(_id="5a02", supporting_facts=[["Tolm", 0], ["Nowhere", 0]])
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", hotpot_record(), missing))
    assert len(dataset.gold["5a01"].supporting_ids) == 2
    assert dataset.gold["5a02"].supporting_ids == ()
    (note,) = [note for note in dataset.notes if "no supporting documents" in note]
    assert note.startswith("1 of 2 questions have no supporting documents")
    assert "'5a02'" in note
    assert "undefined" in note


def test_a_paragraph_without_text_is_left_out_and_reported(tmp_path: Path) -> None:
    record = hotpot_record(context=[*hotpot_record()["context"], ["Void", []], ["Blank", [" "]]])
    dataset = load_hotpotqa(write_array(tmp_path / "dev.json", record))
    assert len(dataset.documents) == 4
    assert "2 paragraphs without text were left out." in dataset.notes


@pytest.mark.parametrize(
    ("kind", "hops"),
    [("comparison", 2), ("inference", 2), ("compositional", 2), ("bridge_comparison", 4), ("else", None)],
)
def test_two_wiki_hops_come_from_the_type(tmp_path: Path, kind: str, hops: int | None) -> None:
    dataset = load_two_wiki(write_array(tmp_path / "dev.json", two_wiki_record(type=kind)))
    assert dataset.questions[0].hops == hops
    assert any("Hops are unknown where 'type' is 'else'" in note for note in dataset.notes) == (hops is None)


def test_two_wiki_joins_sentences_with_spaces_and_takes_yes_for_an_answer(tmp_path: Path) -> None:
    dataset = load_two_wiki(write_array(tmp_path / "dev.json", two_wiki_record()))
    assert dataset.documents[0].text == "Asch is a film by Ina Fell. It was shot in Tolm."
    assert dataset.gold["8f02"].answers == ("yes",)
    assert len(dataset.gold["8f02"].supporting_ids) == 4


def test_an_array_and_lines_are_the_same_dataset(tmp_path: Path) -> None:
    records = (hotpot_record(), hotpot_record(_id="5a02"))
    array, lines = write_array(tmp_path / "a.json", *records), write_lines(tmp_path / "b.json", *records)
    assert load_hotpotqa(array).fingerprint == load_hotpotqa(lines).fingerprint


def without(name: str) -> Record:
    return {key: value for key, value in hotpot_record(_id="5a02").items() if key != name}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (hotpot_record(), "record 2: _id '5a01' was already used at "),
        (without("_id"), "record 2: no field '_id'"),
        (without("question"), "record 2: no field 'question'"),
        (without("answer"), "record 2: no field 'answer'; the test files hide their labels"),
        (without("supporting_facts"), "record 2: no field 'supporting_facts'; the test files hide their labels"),
        (without("context"), "record 2: no field 'context'"),
        (hotpot_record(_id="5a02", answer=" "), "record 2: field 'answer' is blank"),
        (hotpot_record(_id="5a02", answer=None), "record 2: field 'answer' must be a string, not null"),
        (
            hotpot_record(_id="5a02", supporting_facts=[["Tolm"]]),
            "record 2: 'supporting_facts[0]' must be [title, sent",
        ),
        (hotpot_record(_id="5a02", context=[["Tolm", "text"]]), "record 2: 'context[0]' must be [title, [sentences]]"),
        (
            hotpot_record(_id="5a02", context={"title": []}),
            "record 2, context: no field 'sentences'; fields there: 'title'",
        ),
    ],
)
def test_a_bad_record_is_named_with_its_fault(tmp_path: Path, bad: Record, message: str) -> None:
    path = write_array(tmp_path / "dev.json", hotpot_record(), bad)
    with pytest.raises(DatasetError) as caught:
        load_hotpotqa(path)
    assert str(caught.value).removeprefix(f"{path}, ").startswith(message)


@pytest.mark.parametrize("load", [load_hotpotqa, load_two_wiki])
def test_an_empty_file_is_refused(tmp_path: Path, load: Any) -> None:
    with pytest.raises(DatasetError, match="holds no records; expected one JSON array"):
        load(write_array(tmp_path / "dev.json"))
