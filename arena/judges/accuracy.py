"""AnswerAccuracy: two judges, the second with answer and reference swapped, each rate 0, 2 or 4.

The value is the mean of both ratings over 4, and so one of 0, .25, .5, .75, 1; .25 and .75 mean that they disagree.
ragas takes the rating of one judge alone when the other gives none; here that is half of a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.judges.gate import Asked
from arena.judges.protocol import JudgeProtocol, Similarity
from arena.judges.reading import NOT_ASKED, Reading
from arena.judges.subject import Subject
from arena.types import Partial, VerdictPart

JUDGES = ("judge_1", "judge_2")
RATINGS = (0, 2, 4)


def _arguments(subject: Subject) -> dict[str, Any]:
    return {"user_input": subject.question, "response": subject.answer, "reference": subject.reference}


def _read(asked: Sequence[Asked], _: Subject, __: Similarity) -> Reading:
    last = {one.prompt: one for one in asked}  # an unusable rating was asked for once more
    outcomes = [*last.values()][: len(JUDGES)]
    parts = [_rating(name, one) for name, one in zip(JUDGES, outcomes, strict=False)]
    parts += [VerdictPart(name, None, NOT_ASKED) for name in JUDGES[len(parts) :]]
    shares = [part.value / max(RATINGS) for part in parts if part.value is not None]
    if len(shares) == len(JUDGES):
        return Reading(tuple(parts), sum(shares) / len(JUDGES))
    if not shares:
        return Reading(tuple(parts))
    return Reading(tuple(parts), None, Partial(0.5, sum(shares) / 2, (sum(shares) + 1.0) / 2))


def _rating(name: str, asked: Asked) -> VerdictPart:
    if asked.reply is None:
        return VerdictPart(name, None, asked.problem)
    rating = asked.reply["rating"]
    if rating not in RATINGS:
        return VerdictPart(name, None, f"the rating {rating} is none of 0, 2 and 4")
    return VerdictPart(name, float(rating))


ANSWER_ACCURACY = JudgeProtocol(
    "answer_accuracy", "AnswerAccuracy", ("judge1_prompt", "judge2_prompt"), _arguments, _read
)
