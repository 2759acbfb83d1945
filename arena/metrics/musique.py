"""MuSiQue's official evaluation, of the answerable and of the full setting.

Trivedi, Balasubramanian, Khot and Sabharwal, "MuSiQue: Multihop Questions via Single-hop Question Composition", TACL
2022, section 7, as version 1.0 of the authors' evaluation has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from arena.metrics.answer import exact_match, token_f1
from arena.metrics.support import support_em, support_f1
from arena.types.data import OfficialGold, OfficialPrediction

Pair = tuple[OfficialPrediction, OfficialGold]


NOT_OFFICIAL = frozenset({"support_em"})
"""What `evaluate` gives beside the figures of the official program, which prints none of it."""


def evaluate(predictions: Sequence[OfficialPrediction], gold: Sequence[OfficialGold]) -> dict[str, float]:
    """The official metrics, in [0, 1] and unrounded (the authors round to three decimals).

    Answer and support are averaged over the answerable records. With an unanswerable record among the gold the setting
    is the full one, and there are group metrics: mean over the questions of the answerable twin's F1, 0 unless
    `answerable` is predicted rightly of both twins.

    Args:
        predictions: one per record, in the order of the gold.
        gold: at least one answerable record, each with an answer; in the full setting two per id, one of them
            answerable.

    Raises:
        ValueError: predictions and gold are not of the same records, or not as above.
    """
    if len(predictions) != len(gold):
        raise ValueError(f"{len(predictions)} predictions for {len(gold)} records")
    pairs = list(zip(predictions, gold, strict=True))
    for predicted, record in pairs:
        if predicted.question_id != record.question_id:
            raise ValueError(f"a prediction for {predicted.question_id!r} stands where {record.question_id!r} should")
    answerable = [pair for pair in pairs if pair[1].answerable]
    if not answerable:
        raise ValueError("the gold has no answerable record: nothing can be averaged")
    metrics = {
        "answer_em": _mean([_answer_em(pair) for pair in answerable]),
        "answer_f1": _mean([_answer_f1(pair) for pair in answerable]),
        "support_em": _mean(
            [support_em(predicted.support_idxs, record.support_idxs) for predicted, record in answerable]
        ),
        "support_f1": _mean([_support_f1(pair) for pair in answerable]),
    }
    if len(answerable) < len(pairs):
        groups = _groups(pairs)
        metrics["group_answer_sufficiency_f1"] = _mean([right * _answer_f1(pair) for pair, right in groups])
        metrics["group_support_sufficiency_f1"] = _mean([right * _support_f1(pair) for pair, right in groups])
    return metrics


def _groups(pairs: Sequence[Pair]) -> list[tuple[Pair, bool]]:
    """Of each id its answerable twin, and whether sufficiency was predicted rightly of both."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair[1].question_id, []).append(pair)
    for question_id, twins in groups.items():
        if sorted(record.answerable for _, record in twins) != [False, True]:
            raise ValueError(f"{question_id!r} needs one answerable and one unanswerable record in the full setting")
    return [
        (
            next(pair for pair in twins if pair[1].answerable),
            all(predicted.answerable == record.answerable for predicted, record in twins),
        )
        for twins in groups.values()
    ]


def _answer_em(pair: Pair) -> float:
    return exact_match(pair[0].answer, pair[1].answers, official=True) or 0.0


def _answer_f1(pair: Pair) -> float:
    return token_f1(pair[0].answer, pair[1].answers, official=True) or 0.0


def _support_f1(pair: Pair) -> float:
    return support_f1(pair[0].support_idxs, pair[1].support_idxs)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
