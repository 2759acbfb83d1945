"""AnswerCorrectness: F1 of the answer's statements against the reference's (3/4), and how close the texts are (1/4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.judges.faithfulness import statements_of, why_no_statements
from arena.judges.gate import Asked
from arena.judges.protocol import JudgeProtocol, Similarity
from arena.judges.reading import NOT_ASKED, Reading, nothing
from arena.judges.reconcile import judged_statements, words_of
from arena.judges.subject import Subject
from arena.types import Partial, VerdictPart

F1_WEIGHT = 0.75
"""ragas' default; the rest is the similarity's."""


def _arguments(subject: Subject) -> dict[str, Any]:
    return {"user_input": subject.question, "response": subject.answer, "reference": subject.reference}


def _read(asked: Sequence[Asked], subject: Subject, similarity: Similarity) -> Reading:
    """The parts are the answer's statements: 1 = the reference carries it, 0 = it does not.

    Statements of the reference that the answer lacks are those that the judge lists as such. ragas takes an answer or
    a reference without statements for a perfect match; here it was not judged.
    """
    ours, theirs, classes = (*asked, None, None, None)[:3]
    for name, listed in (("answer", ours), ("reference", theirs)):
        if not statements_of(listed):
            return nothing(f"statements of the {name}", why_no_statements(listed))
    close = similarity(subject.answer, subject.reference)
    if classes is None or classes.reply is None or close is None:
        why = NOT_ASKED if classes is None else classes.problem
        return Reading(tuple(VerdictPart(statement, None, why) for statement in statements_of(ours)))
    parts = _parts(statements_of(ours), classes.reply)
    lacking = {words_of(item["statement"]) for item in classes.reply["FN"]}
    missed = len({words_of(statement) for statement in statements_of(theirs)} & lacking)
    right = sum(part.value or 0.0 for part in parts)
    unknown = sum(part.value is None for part in parts)
    details = {"similarity": close, "missed": float(missed)}

    def value(true: float) -> float:
        f1 = 2 * true / (true + len(parts) + missed)
        return F1_WEIGHT * f1 + (1.0 - F1_WEIGHT) * close

    if not unknown:
        return Reading(parts, value(right), details=details)
    if unknown == len(parts):
        return Reading(parts)
    return Reading(parts, None, Partial(1 - unknown / len(parts), value(right), value(right + unknown)), details)


def _parts(sent: Sequence[str], classes: Mapping[str, Any]) -> tuple[VerdictPart, ...]:
    returned = [(item["statement"], verdict) for name, verdict in (("TP", 1), ("FP", 0)) for item in classes[name]]
    return judged_statements(sent, returned)


ANSWER_CORRECTNESS = JudgeProtocol(
    "answer_correctness",
    "AnswerCorrectness",
    ("statement_generator_prompt", "correctness_classifier_prompt"),
    _arguments,
    _read,
    options={"weights": [F1_WEIGHT, 1.0 - F1_WEIGHT]},
)
