"""Adaptive-RAG's cost bias: how far a cheaper way is to be preferred to the likeliest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from arena.errors import ConfigError
from arena.metrics.answer import exact_match
from arena.metrics.controllers import fixed_route
from arena.statistics.intervals import wilson_interval
from arena.types import NO_RETRIEVAL_MODE, Cell, RunRecord, sum_known
from experiments.calibrating.bias_curve import BiasCurve, best_bias, bias_curve
from experiments.calibrating.dev_run import DevRun
from experiments.calibrating.finding import Chosen, Figure, Finding, TradeRow, TradeTable
from experiments.calibrating.separation import Separation, judged_apart, separation
from experiments.contestants.labels import silver_labels
from experiments.run.extras import judge_of
from strategies.adaptive import LABELS, Label

SETTING = "strategy_params.adaptive.cost_bias"
_CRITERION = "largest balanced accuracy against the silver labels; of equal ones the smallest, 0 being the paper's"
_WANTED = "adaptive (policy classifier) beside closed_book, vanilla and ircot on the part dev"
_ROWS = 10


def calibrate_router(run: DevRun) -> Finding:
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
    measures = {"balanced accuracy": best.balanced_accuracy, "gain over 0": best.gain}
    chosen = Chosen(SETTING, best.bias, best.low, best.high, _CRITERION, measures)
    separates, verdict = judged_apart(apart.wanted, apart.unwanted, apart.auc, {"the gain over bias 0": best.gain})
    if not best.bias:
        verdict = "no bias above 0 labels better: the paper's 0 stays"
    return Finding(
        target="router",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(apart.wanted, apart.unwanted),
        auc=apart.auc,
        chosen=(chosen,),
        table=_table(run, cell, curve, known, best.bias),
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


def _table(run: DevRun, cell: Cell, curve: BiasCurve, known: Sequence[str], best: float) -> TradeTable:
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
        used = sum_known(_tokens(record) for record in taken)
        figures: tuple[Figure, ...] = (
            float(accuracy[place]),
            wilson_interval(hits[:, place].astype(np.float64)),
            wilson_interval(np.array(simple, dtype=np.float64)),
            *(labels.count(label) / len(labels) for label in LABELS),
            wilson_interval(np.array([_is_right(run, record) for record in taken], dtype=np.float64)),
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


def _is_right(run: DevRun, record: RunRecord) -> bool:
    answer = record.answer
    if answer is None or answer.abstained:
        return False
    gold = run.gold[record.question_id]
    return bool(exact_match(answer.text or "", gold.answers, official=gold.official))
