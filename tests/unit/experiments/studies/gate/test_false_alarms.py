"""How often the gate fails a run that is no worse, and how often it catches one that is: by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from arena.leaderboard.metrics import QuestionResamples
from arena.types import Cell
from experiments.studies.gate.cells import ScoredCell
from experiments.studies.gate.margins import margin_checks
from experiments.studies.gate.policy import Policy
from tests.unit.experiments.studies.gate.scored_cells import column, questions, scored

N, CELLS = 120, 3
RESAMPLES = QuestionResamples(questions(N), 0)
SCORES = ("retrieval_recall", "answer_em", "answer_f1", "false_abstention")

USAGE = scored({"answer_em": column([1.0] * N)}, tokens=column(np.linspace(500, 1500, N).tolist())).cell.usage

Values = NDArray[np.float64]
Run = list[dict[str, Values]]
Change = Callable[[np.random.Generator, Run, Values], Run]


def baseline(rng: np.random.Generator, hops: Values) -> Run:
    """Each gold document is found with probability 0.6; what is right depends on what was found."""
    return [_cell(rng, hops) for _ in range(CELLS)]


def _cell(rng: np.random.Generator, hops: Values) -> dict[str, Values]:
    recall = rng.binomial(hops.astype(int), 0.6) / hops
    right = (rng.random(N) < 0.5 * recall).astype(np.float64)
    partly = np.where(rng.random(N) < 0.3, rng.choice([0.25, 0.4, 0.5, 2 / 3], N), 0.0)
    return {
        "retrieval_recall": recall,
        "answer_em": right,
        "answer_f1": np.maximum(right, partly),
        "false_abstention": (rng.random(N) < 0.1).astype(np.float64),
    }


def wobble(rng: np.random.Generator, run: Run, hops: Values) -> Run:
    """Recall a point up or down, document by document; one or two answers turn."""
    return [
        {
            "retrieval_recall": moved(rng, cell["retrieval_recall"], hops, rng.choice([-0.01, 0.01])),
            "answer_em": turned(rng, cell["answer_em"], int(rng.integers(1, 3))),
            "answer_f1": turned(rng, cell["answer_f1"], int(rng.integers(1, 3))),
            "false_abstention": turned(rng, cell["false_abstention"], int(rng.integers(1, 3))),
        }
        for cell in run
    ]


def resampled(rng: np.random.Generator, run: Run, hops: Values) -> Run:
    """A decoder that is sampled: a fifth of all questions come out anew, by the same law."""
    fresh = baseline(rng, hops)
    anew = rng.random(N) < 0.2
    return [
        {name: np.where(anew, other[name], cell[name]) for name in cell} for cell, other in zip(run, fresh, strict=True)
    ]


def regressed(rng: np.random.Generator, run: Run, hops: Values) -> Run:
    """As sampled, and recall ten points lower in one cell."""
    first, *others = resampled(rng, run, hops)
    return [{**first, "retrieval_recall": moved(rng, first["retrieval_recall"], hops, -0.1)}, *others]


def moved(rng: np.random.Generator, recall: Values, hops: Values, points: float) -> Values:
    """Found documents are lost, or lost ones found, until the mean has moved by `points`."""
    after, left = recall.copy(), abs(points) * N
    for place in rng.permutation(N):
        step = np.sign(points) / hops[place]
        if left > 1e-9 and -1e-9 <= after[place] + step <= 1.0 + 1e-9:
            after[place] += step
            left -= abs(step)
    return np.clip(after, 0.0, 1.0)


def turned(rng: np.random.Generator, values: Values, count: int) -> Values:
    after = values.copy()
    places = rng.permutation(N)[:count]
    after[places] = 1.0 - after[places]
    return after


def as_scored(run: Run) -> list[ScoredCell]:
    return [
        scored(
            {name: column(cell[name].tolist()) for name in SCORES},
            of=Cell("vanilla", "dense", "m", {"k": number}),
            usage=USAGE,
        )
        for number, cell in enumerate(run)
    ]


def outcomes(change: Change, pairs: int, seed: int = 0) -> Mapping[str, float]:
    """Shares of `pairs` runs: `failed` the gate; failed by `retrieval_recall`."""
    rng, policy = np.random.default_rng(seed), Policy()
    failed = by_recall = 0
    for _ in range(pairs):
        hops = rng.choice([2.0, 2.0, 2.0, 3.0, 4.0], N)
        run = baseline(rng, hops)
        cells = zip(as_scored(change(rng, run, hops)), as_scored(run), strict=True)
        checks = margin_checks([(str(place), *pair) for place, pair in enumerate(cells)], policy, RESAMPLES, 0)
        failing = {check.metric for check in checks if check.outcome == "fail"}
        failed += bool(failing)
        by_recall += "retrieval_recall" in failing
    return {"failed": failed / pairs, "by_recall": by_recall / pairs}


@pytest.mark.parametrize("seed", range(4))
def test_a_wobble_of_a_point_fails_at_most_five_percent_of_a_thousand(seed: int) -> None:
    assert outcomes(wobble, 250, seed)["failed"] <= 0.05


def test_a_sampled_decoder_does_not_fail_the_gate() -> None:
    assert outcomes(resampled, 100)["failed"] <= 0.05


def test_ten_points_of_recall_are_caught_in_one_cell_of_three_with_a_sampled_decoder() -> None:
    assert outcomes(regressed, 60)["by_recall"] >= 0.95
