from __future__ import annotations

import re
from pathlib import Path

import yaml

from arena.datasets import load_dataset
from arena.llm.fake.script import read_script
from arena.text import ABSTENTION
from arena.types import AnswerStyle, Document, Passage, Question
from docs.build.seed_systems import write_reader
from strategies.answer import answer_prompt

WORLD = load_dataset("world")
DOCUMENTS = {document.doc_id: document for document in WORLD.documents}


def passages(documents: list[Document]) -> list[Passage]:
    return [Passage(one.doc_id, one.doc_id, one.title, one.text, 0, len(one.text)) for one in documents]


def replies(script: Path, questions: list[Question], *, without_last: bool = False) -> list[str | None]:
    """What the first rule that applies says to each question over its gold documents, the last of a chain first."""
    rules, said = read_script(script).rules, []
    for question in questions:
        gold = WORLD.gold[question.question_id]
        shown = [DOCUMENTS[doc_id] for doc_id in gold.hop_order or gold.supporting_ids][: -1 if without_last else None]
        style: AnswerStyle = "summary" if question.kind == "summary" else "short"
        prompt = "\n".join(turn.content for turn in answer_prompt(question.text, passages(shown[::-1]), style))
        said.append(next((rule.text for rule in rules if re.search(rule.when or "", prompt)), None))
    return said


def test_it_answers_right_over_all_evidence_but_for_every_fourth_chain(tmp_path: Path) -> None:
    write_reader(tmp_path / "reader.yaml", WORLD)
    asked = [one for one in WORLD.questions if WORLD.gold[one.question_id].answers]
    said = replies(tmp_path / "reader.yaml", asked)
    gold = [WORLD.gold[one.question_id] for one in asked]
    wrong = [place for place, (one, reply) in enumerate(zip(gold, said, strict=True)) if reply != one.answers[0]]
    chains = [place for place, one in enumerate(asked) if one.kind == "multi_hop"]
    assert wrong == chains[3::4]
    assert [said[place] for place in wrong] == [DOCUMENTS[(gold[place].hop_order or ())[-1]].title for place in wrong]


def test_it_abstains_where_a_document_is_missing_or_there_is_no_answer(tmp_path: Path) -> None:
    write_reader(tmp_path / "reader.yaml", WORLD)
    assert set(replies(tmp_path / "reader.yaml", list(WORLD.questions), without_last=True)) == {ABSTENTION}


def test_it_leaves_other_requests_alone_and_is_the_same_every_time(tmp_path: Path) -> None:
    write_reader(tmp_path / "a.yaml", WORLD)
    write_reader(tmp_path / "b.yaml", WORLD)
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    rules = yaml.safe_load((tmp_path / "a.yaml").read_text(encoding="utf-8"))["rules"]
    grading = f"Is the passage relevant?\nQuestion: {WORLD.questions[0].text}\nAnswer the question yes or no."
    assert not any(re.search(rule["when"], grading) for rule in rules)
