"""AnswerRelevancy: the judge writes three questions that the answer would answer; how close are they to the one asked?

An answer that the judge calls noncommittal all three times is worth 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.judges.gate import Asked
from arena.judges.protocol import JudgeProtocol, Similarity
from arena.judges.reading import NOT_ASKED, Reading
from arena.judges.subject import Subject
from arena.types import Partial, VerdictPart

QUESTIONS = 3
"""Written of every answer: ragas' default."""

NO_QUESTION = "the judge wrote no question"
NO_FLAG = "noncommittal is neither 0 nor 1"


def _arguments(subject: Subject) -> dict[str, Any]:
    return {"user_input": subject.question, "response": subject.answer}


def _read(asked: Sequence[Asked], subject: Subject, similarity: Similarity) -> Reading:
    outcomes = [*asked, *[None] * QUESTIONS][:QUESTIONS]
    parts = tuple(_closeness(f"question_{n}", one, subject, similarity) for n, one in enumerate(outcomes, 1))
    known = [part.value for part in parts if part.value is not None]
    judged = [one for one, part in zip(outcomes, parts, strict=True) if part.value is not None]
    flags = [one.reply["noncommittal"] for one in judged if one and one.reply]
    details = {"noncommittal": float(sum(flags))}
    evasive, missing = all(flags), QUESTIONS - len(known)
    if not missing:
        return Reading(parts, 0.0 if evasive else sum(known) / QUESTIONS, details=details)
    if not known:
        return Reading(parts)
    low, high = 0.0 if evasive else sum(known) / QUESTIONS, (sum(known) + missing) / QUESTIONS
    return Reading(parts, None, Partial(len(known) / QUESTIONS, low, high), details)


def _closeness(name: str, asked: Asked | None, subject: Subject, similarity: Similarity) -> VerdictPart:
    if asked is None or asked.reply is None:
        return VerdictPart(name, None, NOT_ASKED if asked is None else asked.problem)
    if not asked.reply["question"]:
        return VerdictPart(name, None, NO_QUESTION)
    if asked.reply["noncommittal"] not in (0, 1):
        return VerdictPart(name, None, NO_FLAG)
    return VerdictPart(name, similarity(subject.question, asked.reply["question"]))


ANSWER_RELEVANCY = JudgeProtocol(
    *("answer_relevancy", "AnswerRelevancy", ("prompt",), _arguments, _read),
    options={"strictness": QUESTIONS},
    stand_in={"question": "", "noncommittal": 0},
)
