"""Each answer held against the gold of every question, not only of its own: what it would score by chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from arena.metrics.answer import any_script_normalised, contains, exact_match, musique_normalised, token_f1

Wording = Callable[[str, Sequence[str]], float | None]

CROSSED: Mapping[str, Wording] = {"answer_em": exact_match, "answer_f1": token_f1, "answer_contains": contains}
"""Metrics that look at words alone. Each is 0 for two texts without a token in common, unless neither has any."""


def cross_scores(
    predictions: Sequence[str | None], answers: Sequence[Sequence[str]], metric: Wording
) -> list[dict[int, float]]:
    """Per prediction: place of a question -> its score against that question's answers, where that is not 0.

    Args:
        predictions: one a question; None = none was given, which scores 0 everywhere.
        answers: of the same questions, in the same order.
        metric: one of CROSSED.
    """
    holders = _holders(answers)
    known: dict[str, dict[int, float]] = {}
    rows: list[dict[int, float]] = []
    for prediction in predictions:
        if prediction is None:
            rows.append({})
            continue
        if prediction not in known:
            places = sorted({place for token in _tokens(prediction) for place in holders.get(token, ())})
            scores = ((place, metric(prediction, answers[place])) for place in places)
            known[prediction] = {place: score for place, score in scores if score}
        rows.append(known[prediction])
    return rows


def _holders(answers: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    """Token -> places of the questions that have it in an answer; the empty token stands for a text without any."""
    holders: dict[str, set[int]] = {}
    for place, alternatives in enumerate(answers):
        for answer in alternatives:
            for token in _tokens(answer):
                holders.setdefault(token, set()).add(place)
    return holders


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return musique_normalised(text).split() or [""]
    # Which of the two a comparison takes depends on the other text.
    return [*musique_normalised(text).split(), *any_script_normalised(text).split()] or [""]
