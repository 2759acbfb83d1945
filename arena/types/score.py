"""What one metric says of one question, and what a judge said that it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.types.run import LLMCall


@dataclass(frozen=True, slots=True)
class Partial:
    """What is known of a score some parts of which are missing.

    `known`: the share of its parts that are, in [0, 1). `low`, `high`: the score with every missing part counted
    against it and for it.
    """

    known: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Score:
    """One metric on one question.

    `value` is None when undefined or missing, and `reason` says why. `partial`: of a missing one, what is known of it
    (None = nothing: it may be anything in [0, 1]).
    """

    metric: str
    value: float | None
    reason: str | None = None
    partial: Partial | None = None


JudgeMetric = Literal[
    "answer_accuracy", "faithfulness", "context_precision", "context_recall", "answer_relevancy", "answer_correctness"
]


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """One thing a judge was asked about: a statement, a passage, one of two ratings.

    `name` says which (the statement's text, the passage's document id, `judge_1`). `value` is what the judge said (0 or
    1 for a statement; 0, 2 or 4 for a rating), None = not judged, and `reason` says why.
    """

    name: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of one record by one metric, once; one line of verdicts.jsonl.

    `judge`: `PROVIDER:NAME`; `judge_sha`: of all that can change a verdict (model, parameters, ragas' version, its
    prompts). `subject_sha`: of what was judged (question, answer, reference, texts), so that a verdict on another
    answer is never taken for one on this. `repeat` counts from 0. `score` carries value, reason and what is known of
    it; `parts` what it is made of; `calls` what it took, apart from the calls of the system that is judged.
    """

    cell: str
    question_id: str
    metric: JudgeMetric
    judge: str
    judge_sha: str
    subject_sha: str
    repeat: int
    score: Score
    parts: tuple[VerdictPart, ...] = ()
    calls: tuple[LLMCall, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)
