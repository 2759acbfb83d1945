from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judges.reading import score_of
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Partial, Score, Verdict


def verdict(score: Score, repeat: int = 0) -> Verdict:
    return Verdict("cell", "q1", "answer_accuracy", "fake:", "judge_1", "subject", repeat, score)


def scored(*values: float | Partial | None) -> Score:
    scores: list[Score] = []
    for value in values:
        if isinstance(value, Partial):
            scores.append(Score("answer_accuracy", None, PARTLY_JUDGED, value))
        else:
            scores.append(Score("answer_accuracy", value, JUDGE_FAILED if value is None else None))
    return score_of([verdict(one, repeat) for repeat, one in enumerate(scores)])


def test_repeats_are_averaged() -> None:
    assert scored(0.25) == Score("answer_accuracy", 0.25)
    assert scored(0.25, 0.75, 1.0).value == pytest.approx(2 / 3)


def test_a_failed_repeat_leaves_the_mean_open() -> None:
    assert scored(1.0, None) == Score("answer_accuracy", None, PARTLY_JUDGED, Partial(0.5, 0.5, 1.0))
    half = Partial(0.5, 0.5, 1.0)
    assert scored(half) == Score("answer_accuracy", None, PARTLY_JUDGED, half)
    assert scored(0.0, half) == Score("answer_accuracy", None, PARTLY_JUDGED, Partial(0.75, 0.25, 0.5))


def test_nothing_but_failures_is_a_failure() -> None:
    assert scored(None) == Score("answer_accuracy", None, JUDGE_FAILED)
    assert scored(None, None).reason == JUDGE_FAILED


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=5), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_the_bounds_hold_whatever_the_failed_repeats_would_have_said(
    values: Sequence[float | None], would_be: Sequence[float]
) -> None:
    complete = [other if one is None else one for one, other in zip(values, would_be, strict=False)]
    mean = sum(complete) / len(complete)
    score = scored(*values)
    if score.value is not None:
        assert score.value == pytest.approx(mean)
    elif score.partial is not None:
        assert score.partial.low - 1e-9 <= mean <= score.partial.high + 1e-9
        assert 0 <= score.partial.known < 1
