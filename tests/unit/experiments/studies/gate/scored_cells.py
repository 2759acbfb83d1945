"""Cells with given scores, tokens and seconds, as a finished and scored run has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from arena.accounting import Account, Spend, Total
from arena.leaderboard.guards import GuardFinding
from arena.metrics.case import FAILED
from arena.scoring import CellScores, Usage
from arena.types import Cell, Question, Score
from experiments.studies.gate.cells import ScoredCell
from tests.samples import cell

Column = Mapping[str, float | Score]


def questions(n: int) -> tuple[Question, ...]:
    """Of two and three hops by turns."""
    return tuple(Question(one, "?", "multi_hop", 2 + place % 2) for place, one in enumerate(_ids(n)))


def column(values: Sequence[float]) -> dict[str, float]:
    """Values of q0000, q0001, ..."""
    return dict(zip(_ids(len(values)), map(float, values), strict=True))


@cache
def _ids(n: int) -> tuple[str, ...]:
    return tuple(f"q{place:04}" for place in range(n))


def scored(
    scores: Mapping[str, Column],
    *,
    of: Cell | None = None,
    tokens: Mapping[str, float | None] | None = None,
    usd: Mapping[str, float | None] | None = None,
    seconds: Mapping[str, float] | None = None,
    failed: Sequence[str] = (),
    guards: Sequence[GuardFinding] = (),
    judges: Mapping[str, str | None] | None = None,
    usage: dict[str, Usage] | None = None,
) -> ScoredCell:
    """A cell. `scores`: metric -> question id -> a value, or a whole score; every one of a `failed` question failed.

    `usage`: instead of one made of `tokens`, `usd` and `seconds`.
    """
    made = CellScores(of or cell(), usage=usage or {})
    for question_id in dict.fromkeys(one for column in scores.values() for one in column):
        lost = question_id in failed
        made.scores[question_id] = tuple(
            Score(metric, None, FAILED) if lost else _score(metric, values[question_id])
            for metric, values in scores.items()
            if question_id in values
        )
        if usage:
            continue
        spent = Spend(
            calls=1,
            input_tokens=_total((tokens or {}).get(question_id, 0.0)),
            usd=_total((usd or {}).get(question_id, None)),
        )
        measured = seconds is not None and question_id in seconds and not lost
        made.usage[question_id] = Usage(
            outcome="failed" if lost else "answered",
            latency_seconds=(seconds or {}).get(question_id, 0.0),
            measured=measured,
            account=Account(paid=spent),
            retrievals=1,
            truncated=False,
            hits=5,
        )
    return ScoredCell(made, guards, judges or {})


def _score(metric: str, value: float | Score) -> Score:
    return value if isinstance(value, Score) else _known(metric, value)


@cache
def _known(metric: str, value: float) -> Score:
    return Score(metric, value)


def _total(value: float | None) -> Total:
    return Total(0.0, 1) if value is None else Total(value)
