"""Runs of the three ways made by hand, by a reader whose outcomes follow the number of hops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.sampling import Part, part_of
from arena.store import RunStore
from arena.types import Answer, Cell, Dataset, Decision, Question, Retrieval, RetrievalRequest, RunRecord
from strategies.adaptive import Label
from tests.samples import call
from tests.unit.experiments.made_runs import made_run

READER = "fake:reader.yaml"
CAP = 10
"""Steps of a chain that does not find its end."""


@dataclass(frozen=True)
class ScriptedReader:
    """Which ways answer a question of so many hops, and how many steps the loop takes for it."""

    answers: Callable[[int], str]
    steps: Callable[[int], int]


EACH_ITS_OWN = ScriptedReader(lambda hops: "B" if hops == 1 else "C", lambda hops: CAP if hops == 1 else hops + 1)
"""Closed book nothing; one retrieval what has one hop; the loop what has more, and on one hop it runs to its cap."""

ONE_RETRIEVAL_OF_TWO = ScriptedReader(lambda hops: ("B", "BC", "C", "C")[hops - 1], lambda hops: hops + 1)
"""Closed book nothing; one retrieval up to two hops; the loop from two hops on, a step a hop and one to say so."""

ALL_BY_LOOP = ScriptedReader(lambda hops: "BC" if hops <= 2 else "C", lambda hops: hops + 1)
"""The same, but what one retrieval answers the loop does too: whoever is sent too simple a way is lost for nothing."""


def ways_cells(llm: str = READER, mode: str = "hybrid") -> Mapping[Label, Cell]:
    return {
        "A": Cell("adaptive", mode, llm, {"policy": "always_a"}),
        "B": Cell("adaptive", mode, llm, {"policy": "always_b"}),
        "C": Cell("adaptive", mode, llm, {"policy": "always_c"}),
    }


def prompted_cell(llm: str = READER, mode: str = "hybrid") -> Cell:
    return Cell("adaptive", mode, llm, {"policy": "classifier"})


def record(of: Cell, question: Question, text: str, steps: int, decisions: Sequence[Decision] = ()) -> RunRecord:
    """An answer after so many retrievals."""
    brought = tuple(Retrieval(RetrievalRequest(question.text, of.retrieval_mode, 5), ()) for _ in range(steps))
    return RunRecord(
        cell=of,
        question_id=question.question_id,
        outcome="answered",
        answer=Answer(text, abstained=False),
        failure=None,
        retrievals=brought,
        calls=(call(),),
        decisions=tuple(decisions),
        wall_seconds=0.1,
    )


def outcomes(dataset: Dataset, question: Question, reader: ScriptedReader, llm: str = READER) -> Iterator[RunRecord]:
    """Of all three ways. What no way is meant to answer, none does."""
    hops = question.hops or 1
    asked = question.kind in ("single_hop", "multi_hop")
    right = reader.answers(hops) if asked else ""
    for label, cell in ways_cells(llm).items():
        gold = dataset.gold[question.question_id].answers
        steps = {"A": 0, "B": 1, "C": reader.steps(hops)}[label]
        yield record(cell, question, gold[0] if label in right else "Nobody at all", steps)


def ways_run(
    folder: Path,
    dataset: Dataset,
    reader: ScriptedReader,
    part: Part,
    *,
    prompted: Callable[[Question], Label] | None = None,
    llm: str = READER,
    **settings: Any,
) -> RunStore:
    """A finished run of every question of a part. `prompted`: the label that a cell with prompted routing gives."""
    records: list[RunRecord] = []
    for question in dataset.questions:
        if part_of(question.question_id) == part:
            records += outcomes(dataset, question, reader, llm)
            if prompted:
                decision = Decision("classify", prompted(question), tier="T0")
                records.append(record(prompted_cell(llm), question, "Nobody at all", 1, [decision]))
    config: dict[str, Any] = {"sample": {"part": part}, "llm": {"model": llm}} | settings
    return made_run(folder, dataset.name, dataset, records, **config)
