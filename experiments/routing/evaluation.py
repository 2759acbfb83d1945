"""How good a router is: against the labels, and in answers and steps against every other way of routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.statistics.intervals import Interval, Values, difference_interval, draw_resamples, wilson_interval
from experiments.routing.measured import HeldOut, Routed
from strategies.adaptive import LABELS, Label
from strategies.adaptive.graph import preferred

BIASES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)

ROUTER, PROMPTED, ORACLE = "router", "prompted", "oracle"


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What a policy would have come to. Every figure is None for no questions.

    `bias`: of the router's. `agreement`: share of questions sent the way of their label. `shares`: of each label.
    `right`: share answered right. `steps`: retrievals a question. `against_c`: answered right less those that always_c
    does, in pairs; `steps_against_c`: the same of steps, as a share of always_c's (-0.3: 30 % fewer).
    """

    policy: str
    bias: float | None
    n: int
    agreement: Interval | None
    shares: Mapping[Label, float]
    right: Interval | None
    steps: float | None
    against_c: Interval | None
    steps_against_c: float | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A router measured. `confusion`: label -> label given -> questions, at the router's own bias.

    `policies` has the router's row first; `biases` its rows over BIASES.
    """

    how: str
    n: int
    confusion: Mapping[Label, Mapping[Label, int]]
    policies: tuple[PolicyRow, ...]
    biases: tuple[PolicyRow, ...]

    @property
    def accuracy(self) -> Interval | None:
        """Share of questions that the router labels right, with Wilson's interval."""
        return self.policies[0].agreement

    @property
    def row_normalised(self) -> Mapping[Label, Mapping[Label, float | None]]:
        """`confusion` as shares of each true label; None for one that no question has."""
        return {
            truth: {given: count / sum(row.values()) if any(row.values()) else None for given, count in row.items()}
            for truth, row in self.confusion.items()
        }


def evaluate(held_out: HeldOut, cost_bias: float, seed: int) -> Evaluation:
    """Measure a router on held-out questions. `seed`: of the resamples behind paired differences."""
    routed = held_out.routed
    own = by_router(routed, cost_bias)
    given: list[tuple[str, float | None, Mapping[str, Label]]] = [(ROUTER, cost_bias, own)]
    prompted = {one.question_id: one.prompted for one in routed if one.prompted is not None}
    if prompted:
        given.append((PROMPTED, None, prompted))
    given.append((ORACLE, None, {one.question_id: one.truth for one in routed}))
    given += [(f"always_{label.lower()}", None, dict.fromkeys(own, label)) for label in LABELS]
    return Evaluation(
        how=held_out.how,
        n=len(routed),
        confusion=_confusion(routed, own),
        policies=tuple(_row(name, bias, routed, labels, seed) for name, bias, labels in given),
        biases=tuple(_row(ROUTER, bias, routed, by_router(routed, bias), seed) for bias in BIASES),
    )


def by_router(routed: Iterable[Routed], cost_bias: float) -> dict[str, Label]:
    """Question id -> the label that the strategy would give it."""
    return {one.question_id: preferred(one.shares, cost_bias) for one in routed}


def _row(
    policy: str, bias: float | None, routed: Sequence[Routed], labels: Mapping[str, Label], seed: int
) -> PolicyRow:
    asked = [one for one in routed if one.question_id in labels]
    sent = [labels[one.question_id] for one in asked]
    right = np.array([one.ways[label].right for one, label in zip(asked, sent, strict=True)], dtype=np.float64)
    steps = np.array([one.ways[label].steps for one, label in zip(asked, sent, strict=True)], dtype=np.float64)
    by_c = np.array([one.ways["C"].right for one in asked], dtype=np.float64)
    steps_by_c = float(sum(one.ways["C"].steps for one in asked))
    agreement = np.array([label == one.truth for one, label in zip(asked, sent, strict=True)], dtype=np.float64)
    counts = Counter(sent)
    return PolicyRow(
        policy=policy,
        bias=bias,
        n=len(asked),
        agreement=wilson_interval(agreement),
        shares={label: counts[label] / len(asked) for label in LABELS} if asked else {},
        right=wilson_interval(right),
        steps=float(steps.mean()) if asked else None,
        against_c=_difference(right - by_c, seed),
        steps_against_c=float(steps.sum()) / steps_by_c - 1.0 if steps_by_c else None,
    )


def _difference(differences: Values, seed: int) -> Interval | None:
    if not differences.size:
        return None
    resamples = draw_resamples([0] * differences.size, np.random.default_rng(seed))
    return difference_interval(differences, resamples.means(differences[:, np.newaxis])[:, 0])


def _confusion(routed: Sequence[Routed], given: Mapping[str, Label]) -> dict[Label, dict[Label, int]]:
    counts = Counter((one.truth, given[one.question_id]) for one in routed)
    return {truth: {label: counts[truth, label] for label in LABELS} for truth in LABELS}
