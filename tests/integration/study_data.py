"""Small data in the formats of the studies' datasets, written from a fictional world."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.datasets.world import make_world
from arena.types import Dataset, Document, Question

_PARAGRAPHS = 20
_KINDS = {"single_hop": "factual", "multi_hop": "reasoning", "summary": "summary"}


@cache
def world() -> Dataset:
    """Enough for a few questions of any kind of study."""
    return make_world(180, 60, 5)


def write_musique(path: Path) -> str:
    """Its multi-hop questions as MuSiQue's official records of 20 paragraphs."""
    asked = [one for one in world().questions if one.kind == "multi_hop"]
    lines = [json.dumps(_record(number, one, world())) + "\n" for number, one in enumerate(asked)]
    path.write_text("".join(lines), encoding="utf-8")
    return f"musique:{path}"


def write_ragrouter(folder: Path) -> str:
    """Its answerable questions as RAGRouter-Bench has them."""
    made = world()
    folder.mkdir(parents=True)
    corpus = [{"doc_id": one.doc_id, "title": one.title, "text": one.text} for one in made.documents]
    questions = [
        {
            "question_id": one.question_id,
            "question": one.text,
            "answer": made.gold[one.question_id].answers[0],
            "query_type": _KINDS[one.kind],
            "supporting_facts": [{"doc_id": doc_id} for doc_id in made.gold[one.question_id].supporting_ids],
        }
        for one in made.questions
        if one.kind in _KINDS
    ]
    (folder / "Corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (folder / "Question.json").write_text(json.dumps(questions), encoding="utf-8")
    return f"ragrouter:{folder}"


def write_popqa(folder: Path) -> str:
    """Its single-hop questions, asked for as PopQA's: a folder of JSON lines."""
    made = world()
    asked = tuple(one for one in made.questions if one.kind in ("single_hop", "multi_hop"))
    gold = {one.question_id: made.gold[one.question_id] for one in asked}
    identity = fingerprint(made.documents, asked, gold)
    write_jsonl(replace(made, questions=asked, gold=gold, fingerprint=identity), folder)
    return f"jsonl:{folder}"


def _record(number: int, question: Question, made: Dataset) -> dict[str, Any]:
    gold = made.gold[question.question_id]
    chain = gold.hop_order or gold.supporting_ids
    shown = _shown(set(gold.supporting_ids), made.documents)
    places = {document.doc_id: place for place, document in enumerate(shown)}
    return {
        "id": f"{len(chain)}hop__{number}_{number}",
        "question": question.text,
        "paragraphs": [
            {
                "idx": place,
                "title": document.title,
                "paragraph_text": document.text,
                "is_supporting": document.doc_id in gold.supporting_ids,
            }
            for place, document in enumerate(shown)
        ],
        "question_decomposition": [
            {"id": hop, "question": "?", "answer": "?", "paragraph_support_idx": places[doc_id]}
            for hop, doc_id in enumerate(chain)
        ],
        "answer": gold.answers[0],
        "answer_aliases": list(gold.answers[1:]),
        "answerable": True,
    }


def _shown(supporting: set[str], documents: Sequence[Document]) -> list[Document]:
    gold = [one for one in documents if one.doc_id in supporting]
    others = [one for one in documents if one.doc_id not in supporting]
    return [*gold, *others[: _PARAGRAPHS - len(gold)]]
