"""Controls that are handed gold documents with a change: who is asked, and what each question is given."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from arena.config import RunConfig
from arena.protocols import RetrievalSettings
from arena.types import GOLD_MODE
from experiments.execution.contestants import contestants, read_entries

REQUEST = RetrievalSettings(GOLD_MODE, k=1).request("anything")


def given(jsonl_folder: Path, entry: str) -> dict[str, set[str]]:
    """Question -> the documents that the one contestant of `entry` is given on it."""
    config = RunConfig.model_validate(
        {"dataset": f"jsonl:{jsonl_folder}", "llm": {"model": "fake:"}, "strategies": [entry]}
    )
    entries = read_entries(config)
    (one,) = contestants(config, entries, None)
    assert one.cell.retrieval_mode == GOLD_MODE
    return {
        question.question_id: {
            hit.doc_id for hit in anyio.run(one.evidence.for_question(question.question_id).retrieve, REQUEST).hits
        }
        for question in one.questions
    }


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        ("oracle", {"q1": 2, "q2": 1, "q3": 1, "q4": 2}),
        ("oracle_minus_one_hop", {"q1": 1, "q4": 1}),
        ("gold_plus_distractors:distractors=1", {"q1": 3, "q2": 2, "q3": 2, "q4": 3}),
        ("gold_plus_distractors", {"q1": 4, "q2": 4, "q3": 4, "q4": 4}),
    ],
)
def test_each_question_gets_its_gold_as_the_control_says(
    jsonl_folder: Path, entry: str, counts: dict[str, int]
) -> None:
    assert {question_id: len(documents) for question_id, documents in given(jsonl_folder, entry).items()} == counts


def test_the_number_of_distractors_is_part_of_the_cell(jsonl_folder: Path) -> None:
    config = RunConfig.model_validate(
        {
            "dataset": f"jsonl:{jsonl_folder}",
            "llm": {"model": "fake:"},
            "strategies": ["gold_plus_distractors", "gold_plus_distractors:distractors=3"],
        }
    )
    ten, three = contestants(config, read_entries(config), None)
    assert (ten.cell.params["distractors"], three.cell.params["distractors"]) == (10, 3)
    assert ten.cell.key != three.cell.key
