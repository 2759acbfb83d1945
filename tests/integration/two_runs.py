"""Two run folders on 120 two-document questions, made of given records: a baseline and a changed version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.store import RunStore
from arena.types import Cell, Dataset, Document, Gold, Question, RunRecord
from tests.samples import answered, cell
from tests.unit.experiments.made_runs import made_run

N = 120
IDS = tuple(f"q{place:03}" for place in range(N))
DENSE, HYBRID = cell(mode="dense"), cell(mode="hybrid")

Used = Callable[[int], tuple[str, ...]]
"""Number of a question -> the documents its answer was written from; its gold ones are `a` and `b`."""


def write_questions(folder: Path) -> str:
    """The dataset as JSON lines; what to load it as."""
    documents = (Document("a", "A", "It says yes."), Document("b", "B", "So it does."), Document("c", "C", "No."))
    questions = tuple(Question(one, f"What of {one}?", "multi_hop", 2) for one in IDS)
    gold = {one: Gold(one, ("yes",), ("a", "b"), ("a", "b")) for one in IDS}
    write_jsonl(Dataset("", documents, questions, gold, fingerprint(documents, questions, gold)), folder)
    return f"jsonl:{folder}"


def half(place: int) -> tuple[str, ...]:
    """Both gold documents for two questions in three, one of them for the others."""
    return ("a", "b", "c") if place % 3 else ("a", "c")


def records(used: Used = half, cells: Iterable[Cell] = (DENSE, HYBRID), ids: Iterable[str] = IDS) -> list[RunRecord]:
    """One per cell and question. Every other answer is right."""
    return [
        replace(answered(one, "yes" if IDS.index(one) % 2 else "no", used(IDS.index(one)), of=of), warm_up=False)
        for of in cells
        for one in ids
    ]


def run_of(folder: Path, spec: str, made: list[RunRecord], **settings: Any) -> RunStore:
    """A finished run of these records on the dataset `spec`."""
    return made_run(folder, spec, load_dataset(spec), made, **settings)
