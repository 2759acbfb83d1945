"""What the evaluator of Corrective RAG said of two passages, one of which carries the evidence."""

from __future__ import annotations

from arena.types import Cell, Dataset, Decision, Question, RunRecord
from tests.unit.experiments.studies.calibrate.lookups import GOLD, OTHER, dev, record, retrieved

CELL = Cell("corrective", "hybrid", "fake:", {"evaluator": "probabilities", "decompose": "sentences"})


def evaluated(question: Question, gold: float, other: float, *, of: Cell = CELL) -> RunRecord:
    marks = [
        Decision("evaluate", "ambiguous", score, tier="T1", subject=one)
        for one, score in ((GOLD, gold), (OTHER, other))
    ]
    action = Decision("decide_action", "ambiguous", max(gold, other), -0.5, "default", tier="T1")
    retrieval = retrieved(question, [(GOLD, 0.0), (OTHER, 0.0)])
    return record(of, question, text="right", retrieval=retrieval, decisions=[*marks, action])


def overlapping(dataset: Dataset, *, of: Cell = CELL) -> list[RunRecord]:
    """Evidence from 0 to 0.95, other passages from -0.625 to 0.325: apart, and some of each in the other's range."""
    return [
        evaluated(one, place / 20, place / 20 - 0.625, of=of) for place, one in enumerate(dev(dataset, "single_hop"))
    ]
