"""The metrics that a judge can be asked by: what ragas is asked, and how a value is worked out of the judge's replies.

AnswerAccuracy: two judges, the second with answer and reference swapped, each rate 0, 2 or 4. The value is the mean of
both ratings over 4, and so one of 0, .25, .5, .75, 1; .25 and .75 mean that they disagree. ragas takes the rating of
one judge alone when the other gives none; here that is half of a value.

Faithfulness: the judge takes the answer apart into statements, and says of each whether the texts carry it.

ContextPrecision and ContextRecall: whether the texts that were shown serve the reference answer.

AnswerCorrectness: F1 of the answer's statements against the reference's (3/4), and how close the texts are (1/4).

AnswerRelevancy: the judge writes three questions that the answer would answer; how close are they to the one asked? An
answer that the judge calls noncommittal all three times is worth 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from operator import attrgetter
from typing import Any

from arena.judges.reading import (
    JUDGES,
    NO_BINARY,
    NOT_ASKED,
    JudgeReply,
    MetricReading,
    judged_sentences,
    judged_statements,
    nothing,
    share,
    why_unread,
    words_of,
)
from arena.judges.subject import Subject
from arena.types import JudgeMetric, Partial, VerdictPart

Similarity = Callable[[str, str], float | None]
"""Cosine of two texts, in [0, 1]; None = unknown."""


@dataclass(frozen=True, slots=True)
class JudgeProtocol:
    """One metric of ragas.

    `ragas_name` is its class in `ragas.metrics.collections`, `prompts` its attributes that can change a verdict,
    `fields` what its `ascore` is given, `options` how it is made. `read` gives parts and value from all that was
    asked; ragas' own value is not used, because it leaves out what was not judged. `stand_in`: fields of the reply that
    ragas is handed for a call without one, where it would else give up on the rest (None = it goes on by itself).
    """

    metric: JudgeMetric
    ragas_name: str
    prompts: tuple[str, ...]
    fields: tuple[str, ...]
    read: Callable[[Sequence[JudgeReply], Subject, Similarity], MetricReading]
    options: Mapping[str, Any] = field(default_factory=dict)
    stand_in: Mapping[str, Any] | None = None

    def arguments(self, subject: Subject) -> dict[str, Any]:
        """What ragas is given of `subject`."""
        return {name: _ARGUMENTS[name](subject) for name in self.fields}


_ARGUMENTS: Mapping[str, Callable[[Subject], Any]] = {
    "user_input": attrgetter("question"),
    "response": attrgetter("answer"),
    "reference": attrgetter("reference"),
    "retrieved_contexts": lambda subject: list(subject.texts.values()),
}


RATINGS = (0, 2, 4)


def _read_accuracy(asked: Sequence[JudgeReply], _: Subject, __: Similarity) -> MetricReading:
    last = {one.prompt: one for one in asked}  # an unusable rating was asked for once more
    outcomes = [*last.values()][: len(JUDGES)]
    parts = [_rating(name, one) for name, one in zip(JUDGES, outcomes, strict=False)]
    parts += [VerdictPart(name, None, NOT_ASKED) for name in JUDGES[len(parts) :]]
    shares = [part.value / max(RATINGS) for part in parts if part.value is not None]
    if len(shares) == len(JUDGES):
        return MetricReading(tuple(parts), sum(shares) / len(JUDGES))
    if not shares:
        return MetricReading(tuple(parts))
    return MetricReading(tuple(parts), None, Partial(0.5, sum(shares) / 2, (sum(shares) + 1.0) / 2))


def _rating(name: str, asked: JudgeReply) -> VerdictPart:
    if asked.reply is None:
        return VerdictPart(name, None, asked.problem)
    rating = asked.reply["rating"]
    if rating not in RATINGS:
        return VerdictPart(name, None, f"the rating {rating} is none of 0, 2 and 4")
    return VerdictPart(name, float(rating))


STATEMENTS = "statements"
NO_STATEMENT = "the judge found no statement in it"


def statements_of(asked: JudgeReply | None) -> tuple[str, ...]:
    """The statements of a reply that lists them."""
    return () if asked is None or asked.reply is None else tuple(asked.reply[STATEMENTS])


def why_no_statements(asked: JudgeReply | None) -> str:
    """Why a reply lists no statements."""
    return why_unread(asked) or NO_STATEMENT


def _read_faithfulness(asked: Sequence[JudgeReply], _: Subject, __: Similarity) -> MetricReading:
    listed, judged = (*asked, None, None)[:2]
    sent = statements_of(listed)
    if not sent:
        return nothing(STATEMENTS, why_no_statements(listed))
    if judged is None or judged.reply is None:
        return MetricReading(tuple(VerdictPart(statement, None, why_unread(judged)) for statement in sent))
    return share(judged_statements(sent, [_verdict(item) for item in judged.reply[STATEMENTS]]))


def _verdict(item: Mapping[str, Any]) -> tuple[str, int]:
    return item["statement"], item["verdict"]


_MOST_UNKNOWN = 10  # places that are filled in every way; of more, nothing is said


def average_precision(useful: Sequence[float]) -> float:
    """Mean over the useful places of the share of useful ones up to there; 0 where none is."""
    precisions = [sum(useful[:rank]) / rank for rank, one in enumerate(useful, 1) if one]
    return sum(precisions) / len(precisions) if precisions else 0.0


def average_precision_bounds(useful: Sequence[float | None]) -> tuple[float, float]:
    """The least and the most that it can be, however the unknown places turn out.

    Neither is had by calling them all useless or all useful: a useful text at the end lowers it.
    """
    unknown = useful.count(None)
    if unknown > _MOST_UNKNOWN:
        return 0.0, 1.0
    found = []
    for filling in product((0.0, 1.0), repeat=unknown):
        rest = iter(filling)
        found.append(average_precision([next(rest) if one is None else one for one in useful]))
    return min(found), max(found)


def _read_precision(asked: Sequence[JudgeReply], subject: Subject, _: Similarity) -> MetricReading:
    outcomes = [*asked, *[None] * len(subject.texts)]
    parts = tuple(_useful(doc_id, one) for doc_id, one in zip(subject.texts, outcomes, strict=False))
    useful = [part.value for part in parts]
    known = [value for value in useful if value is not None]
    if len(known) == len(useful):
        return MetricReading(parts, average_precision(known))
    if not known:
        return MetricReading(parts)
    return MetricReading(parts, None, Partial(len(known) / len(useful), *average_precision_bounds(useful)))


def _useful(doc_id: str, asked: JudgeReply | None) -> VerdictPart:
    if asked is None or asked.reply is None:
        return VerdictPart(doc_id, None, why_unread(asked))
    verdict = asked.reply["verdict"]
    return VerdictPart(doc_id, float(verdict)) if verdict in (0, 1) else VerdictPart(doc_id, None, NO_BINARY)


def _read_recall(asked: Sequence[JudgeReply], subject: Subject, _: Similarity) -> MetricReading:
    reply = asked[0].reply if asked else None
    if reply is None:
        return nothing("classifications", why_unread(asked[0] if asked else None))
    return share(
        judged_sentences(
            subject.reference, [(item["statement"], item["attributed"]) for item in reply["classifications"]]
        )
    )


F1_WEIGHT = 0.75
"""ragas' default; the rest is the similarity's."""


def _read_correctness(asked: Sequence[JudgeReply], subject: Subject, similarity: Similarity) -> MetricReading:
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
        why = why_unread(classes)
        return MetricReading(tuple(VerdictPart(statement, None, why) for statement in statements_of(ours)))
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
        return MetricReading(parts, value(right), details=details)
    if unknown == len(parts):
        return MetricReading(parts)
    return MetricReading(parts, None, Partial(1 - unknown / len(parts), value(right), value(right + unknown)), details)


def _parts(sent: Sequence[str], classes: Mapping[str, Any]) -> tuple[VerdictPart, ...]:
    returned = [(item["statement"], verdict) for name, verdict in (("TP", 1), ("FP", 0)) for item in classes[name]]
    return judged_statements(sent, returned)


QUESTIONS = 3
"""Written of every answer: ragas' default."""

NO_QUESTION = "the judge wrote no question"
NO_FLAG = "noncommittal is neither 0 nor 1"


def _read_relevancy(asked: Sequence[JudgeReply], subject: Subject, similarity: Similarity) -> MetricReading:
    outcomes = [*asked, *[None] * QUESTIONS][:QUESTIONS]
    parts = tuple(_closeness(f"question_{n}", one, subject, similarity) for n, one in enumerate(outcomes, 1))
    known = [part.value for part in parts if part.value is not None]
    judged = [one for one, part in zip(outcomes, parts, strict=True) if part.value is not None]
    flags = [one.reply["noncommittal"] for one in judged if one and one.reply]
    details = {"noncommittal": float(sum(flags))}
    evasive, missing = all(flags), QUESTIONS - len(known)
    if not missing:
        return MetricReading(parts, 0.0 if evasive else sum(known) / QUESTIONS, details=details)
    if not known:
        return MetricReading(parts)
    low, high = 0.0 if evasive else sum(known) / QUESTIONS, (sum(known) + missing) / QUESTIONS
    return MetricReading(parts, None, Partial(len(known) / QUESTIONS, low, high), details)


def _closeness(name: str, asked: JudgeReply | None, subject: Subject, similarity: Similarity) -> VerdictPart:
    if asked is None or asked.reply is None:
        return VerdictPart(name, None, why_unread(asked))
    if not asked.reply["question"]:
        return VerdictPart(name, None, NO_QUESTION)
    if asked.reply["noncommittal"] not in (0, 1):
        return VerdictPart(name, None, NO_FLAG)
    return VerdictPart(name, similarity(subject.question, asked.reply["question"]))


_ANSWER, _CONTEXT = ("user_input", "response", "reference"), ("user_input", "reference", "retrieved_contexts")

_PROTOCOLS = (
    JudgeProtocol("answer_accuracy", "AnswerAccuracy", ("judge1_prompt", "judge2_prompt"), _ANSWER, _read_accuracy),
    JudgeProtocol(
        "faithfulness",
        "Faithfulness",
        ("statement_generator_prompt", "nli_statement_prompt"),
        ("user_input", "response", "retrieved_contexts"),
        _read_faithfulness,
    ),
    JudgeProtocol(
        *("context_precision", "ContextPrecision", ("prompt",), _CONTEXT, _read_precision),
        stand_in={"reason": "", "verdict": 0},
    ),
    JudgeProtocol("context_recall", "ContextRecall", ("prompt",), _CONTEXT, _read_recall),
    JudgeProtocol(
        *("answer_relevancy", "AnswerRelevancy", ("prompt",), ("user_input", "response"), _read_relevancy),
        options={"strictness": QUESTIONS},
        stand_in={"question": "", "noncommittal": 0},
    ),
    JudgeProtocol(
        "answer_correctness",
        "AnswerCorrectness",
        ("statement_generator_prompt", "correctness_classifier_prompt"),
        _ANSWER,
        _read_correctness,
        options={"weights": [F1_WEIGHT, 1.0 - F1_WEIGHT]},
    ),
)
PROTOCOLS: Mapping[JudgeMetric, JudgeProtocol] = {one.metric: one for one in _PROTOCOLS}
