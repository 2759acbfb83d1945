"""A small folder in RAGRouter-Bench's form under both names of its columns, and MuSiQue's records of its originals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

DOCUMENTS: tuple[Record, ...] = (
    {"doc_id": "d1", "title": "Veyra", "text": "Veyra is a river  that rises in Tolm."},
    {"doc_id": "d2", "title": "Tolm", "text": "Tolm was founded by Ilse Brandt."},
    {"doc_id": "d3", "title": "Veyra", "text": "Veyra was a ship of the guild, launched in 1811."},
    {"doc_id": "d4", "title": "Quarn", "text": "Quarn is a town of weavers near Tolm."},
)

QUESTIONS: tuple[Record, ...] = (
    {
        "question_id": "q1",
        "question": "When was the ship Veyra launched?",
        "answer": "The Veyra was launched in 1811.",
        "query_type": "factual",
        "supporting_facts": ["d3"],
    },
    {
        "question_id": "q2",
        "question": "Who founded the town near Quarn?",
        "answer": "Tolm, near Quarn, was founded by Ilse Brandt.",
        "query_type": "reasoning",
        "supporting_facts": ["d4", "d2"],
    },
    {
        "question_id": "q3",
        "question": "What is known of Tolm?",
        "answer": "Tolm was founded by Ilse Brandt, and the Veyra rises there.",
        "query_type": "summary",
        "supporting_facts": ["d1", "d2", "d4"],
    },
    {
        "question_id": "q4",
        "question": "Who founded  the place where the Veyra rises?",
        "answer": "Ilse Brandt",
        "query_type": "reasoning",
    },
)


def as_found(record: Record) -> Record:
    """The same record with the columns that projects report to have found, ids as numbers, evidence as objects."""
    renamed = {"doc_id": "id", "question_id": "id", "text": "context", "query_type": "type"}
    kinds = {"factual": "single_hop", "reasoning": "multi_hop", "summary": "summary"}
    row = {renamed.get(name, name): value for name, value in record.items()}
    if "type" in row:
        row["type"] = kinds[row["type"]]
    if str(row["id"]).startswith("d"):
        row["id"] = int(row["id"][1:])
    if "supporting_facts" in row:
        row["supporting_facts"] = [{"doc_id": int(fact[1:]), "text": "..."} for fact in row["supporting_facts"]]
    return row


def musique_records(**changes: Any) -> tuple[Record, ...]:
    """MuSiQue's record of q4 and its unanswerable twin. White space is not that of the corpus."""
    base: Record = {
        "id": "2hop__11_22",
        "question": "Who founded the place where the Veyra rises?",
        "answer": "Ilse Brandt",
        "answer_aliases": ["I. Brandt"],
        "answerable": True,
        "question_decomposition": [{"paragraph_support_idx": 1}, {"paragraph_support_idx": 0}],
        "paragraphs": [
            {"idx": 0, "title": "Tolm", "paragraph_text": "Tolm was founded by Ilse Brandt.", "is_supporting": True},
            {
                "idx": 1,
                "title": "Veyra",
                "paragraph_text": "Veyra is a river that rises in Tolm.",
                "is_supporting": True,
            },
        ],
    }
    return base | changes, base | {"answerable": False}


def write(path: Path, records: Sequence[Record], *, lines: bool = False) -> Path:
    form = "".join(json.dumps(record) + "\n" for record in records) if lines else json.dumps(records, indent=1)
    path.write_text(form, encoding="utf-8")
    return path


def make_folder(
    folder: Path,
    documents: Sequence[Record] = DOCUMENTS,
    questions: Sequence[Record] = QUESTIONS,
    *,
    musique: Sequence[Record] = (),
    lines: bool = False,
) -> Path:
    """The folder with Corpus.json, Question.json and, if any records are given, MuSiQue's file beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "Corpus.json", documents, lines=lines)
    write(folder / "Question.json", questions, lines=lines)
    if musique:
        write(folder / "musique_ans_v1.0_dev.jsonl", musique, lines=True)
    return folder
