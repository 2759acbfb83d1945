"""Calibrate Adaptive-RAG's cost bias: how far a cheaper way is to be preferred to the likeliest one.

Each bias is applied to the probabilities that a router's classifier gave in a finished run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

import numpy as np
from numpy.typing import NDArray

from arena.errors import ConfigError
from arena.metrics.controllers import fixed_route
from arena.statistics.intervals import Interval, Resamples, Values, wilson_interval
from arena.types import NO_RETRIEVAL_MODE, Cell, RunRecord, sum_known
from experiments.execution.extras import judge_of
from experiments.studies.calibrate.separation import (
    Chosen,
    DevRun,
    Figure,
    Separation,
    TargetCalibration,
    TradeRow,
    TradeTable,
    separation,
)
from experiments.studies.strategies.labels import answered_right, silver_labels
from strategies.adaptive import LABELS, Label
from strategies.adaptive.graph import preferred

SETTING, GAIN = "strategy_params.adaptive.cost_bias", "gain over 0"
_CRITERION = "largest balanced accuracy against the silver labels; of equal ones the smallest, 0 being the paper's"

MOST = 100.0
"""The largest bias that the strategy takes."""

_CANDIDATES = 80
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class BiasCurve:
    """`biases` (m,), 0 first; `labels` (n, m): what each question would be labelled; `silver` (n,)."""

    biases: Values
    labels: tuple[tuple[Label, ...], ...]
    silver: tuple[Label, ...]

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n, m) whether the label is the silver one."""
        return np.array([[one == truth for one in row] for row, truth in zip(self.labels, self.silver, strict=True)])

    def balanced_accuracy(self, resamples: Resamples | None = None) -> Values:
        """(m,), or (B, m) resampled: the mean over the silver labels there are of the share labelled right."""
        right = self.right.astype(np.float64)
        shares = []
        for label in LABELS:
            mine = np.array([one == label for one in self.silver])
            if mine.any():
                values = np.where(mine[:, np.newaxis], right, np.nan)
                shares.append(np.nanmean(values, axis=0) if resamples is None else resamples.means(values))
        return np.asarray(np.mean(shares, axis=0), dtype=np.float64)


def bias_curve(shares: Sequence[Mapping[str, float]], silver: Sequence[Label]) -> BiasCurve:
    """Over 0 and biases between those at which some question's label changes, at most 80 of them."""
    turns = np.unique([turn for one in shares for turn in _turns(one)])
    if turns.size > _CANDIDATES:
        turns = np.unique(np.quantile(turns, np.linspace(0.0, 1.0, _CANDIDATES)))
    ends = np.append(turns, min(MOST, turns[-1] * 2.0)) if turns.size else turns
    biases = np.concatenate([[0.0], (ends[:-1] + ends[1:]) / 2.0])
    labels = tuple(tuple(preferred(one, float(bias)) for bias in biases) for one in shares)
    return BiasCurve(biases, labels, tuple(silver))


def best_bias(curve: BiasCurve, resamples: Resamples) -> Chosen:
    """The bias with the largest balanced accuracy, the smallest of equal ones, and 95 % percentile intervals.

    Of its measures `GAIN` is that over no bias, less the optimism of choosing and measuring on the same questions.
    """
    whole, drawn = curve.balanced_accuracy(), curve.balanced_accuracy(resamples)
    place, places = int(_best(whole)), _best(drawn)
    rows = np.arange(len(places))
    gains, gain = drawn - drawn[:, :1], whole - whole[0]
    optimism = float(np.mean(gains[rows, places] - gain[places]))
    low, high = np.quantile(places, [0.025, 0.975], method="inverted_cdf").astype(int)
    of_accuracy = np.quantile(drawn[:, place], [0.025, 0.975])
    of_gain = np.quantile(gains[:, place], [0.025, 0.975]) - optimism
    measures = {
        "balanced accuracy": Interval(float(whole[place]), float(of_accuracy[0]), float(of_accuracy[1])),
        GAIN: Interval(float(gain[place]) - optimism, float(of_gain[0]), float(of_gain[1])),
    }
    bias, least, most = (float(curve.biases[one]) for one in (place, low, high))
    return Chosen(SETTING, bias, least, most, _CRITERION, measures)


def _best(accuracy: Values) -> NDArray[np.intp]:
    # Means of the same shares in another order differ in their last bits, and are still equal.
    best = accuracy.max(axis=-1, keepdims=True)
    return np.asarray((accuracy >= best - _TIE).argmax(axis=-1), dtype=np.intp)


def _turns(shares: Mapping[str, float]) -> list[float]:
    """The biases at which a cheaper label draws level with a dearer one."""
    known = [(cost, log(share)) for cost, label in enumerate(LABELS) if (share := shares.get(label, 0.0)) > 0.0]
    levels = [
        (dear_log - cheap_log) / (dear - cheap)
        for cheap, cheap_log in known
        for dear, dear_log in known
        if dear > cheap
    ]
    return [level for level in levels if 0.0 < level < MOST]


_WANTED = "adaptive (policy classifier) beside closed_book, vanilla and ircot on the part dev"
_ROWS = 10


def calibrate_router(run: DevRun) -> TargetCalibration:
    """Raises `ConfigError` where the run cannot tell."""
    cell = run.one_cell("adaptive", lambda cell: cell.params.get("policy") == "classifier", _WANTED)
    shares = {record.question_id: parts for record in run.of(cell) if (parts := _shares(record))}
    if not shares:
        raise ConfigError(
            f"{cell.key} has no label probabilities: its labels were read from replies (T0), or the run was made by a "
            "version that did not keep them; a bias needs probabilities"
        )
    silver = _silver(run, cell)
    known = sorted(one for one in shares if one in silver)  # as the rows of the resamples
    apart = _apart(shares, silver, known, run.seed)
    curve = bias_curve([shares[one] for one in known], [silver[one] for one in known])
    best = best_bias(curve, apart.resamples)
    separates, verdict = apart.judged({"the gain over bias 0": best.measures[GAIN]})
    if not best.value:
        verdict = "no bias above 0 labels better: the paper's 0 stays"
    return TargetCalibration(
        target="router",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(apart.wanted, apart.unwanted),
        auc=apart.auc,
        chosen=(best,),
        table=_table(run, cell, curve, known, best.value),
        separates=separates,
        verdict=verdict,
        notes=(
            "scores of the two populations: steps expected, P(B) + 2 P(C)",
            "right, tokens and retrievals are those of the run's own row for the way that each question would be sent",
        ),
    )


def _shares(record: RunRecord) -> Mapping[str, float]:
    return next((one.parts for one in record.decisions if one.node == "classify" and one.tier == "T1"), {})


def _silver(run: DevRun, cell: Cell) -> Mapping[str, Label]:
    """Question id -> the simplest way that answers it right."""
    found = silver_labels(chain.from_iterable(run.records.values()), run.past.dataset, cell.retrieval_mode).labels
    return {one.question_id: found[one.text] for one in run.questions.values() if one.text in found}


def _apart(
    shares: Mapping[str, Mapping[str, float]], silver: Mapping[str, Label], known: Sequence[str], seed: int
) -> Separation:
    """The expected steps of harder and of simpler questions, parted where the smaller group is the larger."""
    splits: list[tuple[tuple[Label, ...], tuple[Label, ...]]] = [(("B", "C"), ("A",)), (("C",), ("A", "B"))]

    def smaller(split: tuple[tuple[Label, ...], tuple[Label, ...]]) -> int:
        return min(sum(silver[one] in side for one in known) for side in split)

    split = max(splits, key=smaller)
    hard, easy = (
        {one: [shares[one]["B"] + 2.0 * shares[one]["C"]] for one in known if silver[one] in side} for side in split
    )
    names = [f"silver label {' or '.join(side)}" for side in split]
    return separation(hard, easy, (names[0], names[1]), seed)


def _table(run: DevRun, cell: Cell, curve: BiasCurve, known: Sequence[str], best: float | None) -> TradeTable:
    places = {int(one) for one in np.linspace(0, len(curve.biases) - 1, min(_ROWS, len(curve.biases))).round()}
    places.add(int(np.flatnonzero(curve.biases == best)[0]))
    accuracy, hits = curve.balanced_accuracy(), curve.right
    ways = _ways(run, cell)
    headings = (
        f"balanced accuracy (n={len(known)})",
        "accuracy",
        "too simple",
        *LABELS,
        "right",
        "tokens",
        "retrievals",
    )

    def row(place: int) -> TradeRow:
        labels = [one[place] for one in curve.labels]
        sent = [ways[label].get(one) for one, label in zip(known, labels, strict=True)]
        taken = [record for record in sent if record is not None]
        simple = [LABELS.index(a) < LABELS.index(b) for a, b in zip(labels, curve.silver, strict=True)]
        right = [bool(answered_right(record, run.gold[record.question_id])) for record in taken]
        used = sum_known(_tokens(record) for record in taken)
        figures: tuple[Figure, ...] = (
            float(accuracy[place]),
            wilson_interval(hits[:, place].astype(np.float64)),
            wilson_interval(np.array(simple, dtype=np.float64)),
            *(labels.count(label) / len(labels) for label in LABELS),
            wilson_interval(np.array(right, dtype=np.float64)),
            used / len(taken) if used is not None and taken else None,
            sum(len(record.retrievals) for record in taken) / len(taken) if taken else None,
        )
        bias = float(curve.biases[place])
        return TradeRow(bias, "best" if bias == best else "", figures)

    return TradeTable(headings, tuple(row(place) for place in sorted(places)))


def _ways(run: DevRun, router: Cell) -> Mapping[Label, Mapping[str, RunRecord]]:
    """Label -> question id -> the record of the row that answers every question that way."""
    found: dict[Label, Mapping[str, RunRecord]] = {}
    fixed = [one for one in run.cells if one.retrieval_mode in (router.retrieval_mode, NO_RETRIEVAL_MODE)]
    for label in LABELS:
        rows = [one for one in fixed if fixed_route(one) == label]
        row = min(rows, key=lambda one: one.strategy != "adaptive")  # as the silver labels, which found one for each
        found[label] = {record.question_id: record for record in run.of(row)}
    return found


def _tokens(record: RunRecord) -> int | None:
    return sum_known(count for call in record.calls for count in (call.input_tokens, call.output_tokens))
