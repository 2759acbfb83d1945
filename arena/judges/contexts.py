"""ContextPrecision and ContextRecall: whether the texts that were shown serve the reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from arena.judges.gate import Asked
from arena.judges.protocol import JudgeProtocol, Similarity
from arena.judges.reading import NOT_ASKED, Reading, nothing, share
from arena.judges.reconcile import NO_BINARY, judged_sentences
from arena.judges.subject import Subject
from arena.types import Partial, VerdictPart

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


def _arguments(subject: Subject) -> dict[str, Any]:
    return {
        "user_input": subject.question,
        "reference": subject.reference,
        "retrieved_contexts": list(subject.texts.values()),
    }


def _read_precision(asked: Sequence[Asked], subject: Subject, _: Similarity) -> Reading:
    outcomes = [*asked, *[None] * len(subject.texts)]
    parts = tuple(_useful(doc_id, one) for doc_id, one in zip(subject.texts, outcomes, strict=False))
    useful = [part.value for part in parts]
    known = [value for value in useful if value is not None]
    if len(known) == len(useful):
        return Reading(parts, average_precision(known))
    if not known:
        return Reading(parts)
    return Reading(parts, None, Partial(len(known) / len(useful), *average_precision_bounds(useful)))


def _useful(doc_id: str, asked: Asked | None) -> VerdictPart:
    if asked is None or asked.reply is None:
        return VerdictPart(doc_id, None, NOT_ASKED if asked is None else asked.problem)
    verdict = asked.reply["verdict"]
    return VerdictPart(doc_id, float(verdict)) if verdict in (0, 1) else VerdictPart(doc_id, None, NO_BINARY)


def _read_recall(asked: Sequence[Asked], subject: Subject, _: Similarity) -> Reading:
    reply = asked[0].reply if asked else None
    if reply is None:
        return nothing("classifications", asked[0].problem if asked else NOT_ASKED)
    return share(
        judged_sentences(
            subject.reference, [(item["statement"], item["attributed"]) for item in reply["classifications"]]
        )
    )


CONTEXT_PRECISION = JudgeProtocol(
    *("context_precision", "ContextPrecision", ("prompt",), _arguments, _read_precision),
    stand_in={"reason": "", "verdict": 0},
)
CONTEXT_RECALL = JudgeProtocol("context_recall", "ContextRecall", ("prompt",), _arguments, _read_recall)
