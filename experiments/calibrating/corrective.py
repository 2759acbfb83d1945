"""Corrective RAG's thresholds: when is retrieved knowledge trusted, and when is all of it discarded.

Of every question, the evaluator's best score of a passage with gold evidence is what the action trigger sees where
retrieval has succeeded, and its best score of another passage what it would see where retrieval has failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arena.statistics.intervals import wilson_interval
from arena.statistics.thresholds import keeps_at_least, largest_youden, refuses_at_least
from arena.types import Cell, RunRecord
from experiments.calibrating.dev_run import DevRun
from experiments.calibrating.finding import Chosen, Figure, Finding, TradeRow, TradeTable
from experiments.calibrating.grid import shown_values
from experiments.calibrating.separation import YOUDEN, Separation, separation
from experiments.run.extras import judge_of

_PLACE = "strategy_params.corrective"
_NAMES = ("evidence", "other passages")

SHARE = 0.9
"""Of ten retrievals with evidence at most one is discarded, and of ten without at most one is trusted."""

_LOWER = f"the highest that leaves {SHARE:.0%} of the passages with evidence at or above it"
_UPPER = f"the lowest that leaves {SHARE:.0%} of the passages without below it; the highest there is where none does"
_BOTH = f"{YOUDEN}; for both, because upper by its own criterion would be below lower"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The evaluator's scores of one question's retrieved passages. `gold`: which of them carry evidence."""

    question_id: str
    scores: tuple[float, ...]
    gold: tuple[bool, ...]

    def of(self, *, gold: bool, best: bool) -> list[float]:
        """The scores of the passages with evidence, or of those without; of the best one, or of all."""
        scores = [score for score, one in zip(self.scores, self.gold, strict=True) if one == gold]
        return sorted(scores, reverse=True)[:1] if best else scores


def calibrate_corrective(run: DevRun) -> Finding:
    """Raises `ConfigError` where the run cannot tell."""
    cell = run.one_cell("corrective", lambda cell: True, "corrective on the part dev")
    asked = list(_evaluated(run, cell))
    with_evidence, without = (
        {one.question_id: one.of(gold=gold, best=True) for one in asked} for gold in (True, False)
    )
    found = separation(with_evidence, without, _NAMES, run.seed)
    lower, upper = _thresholds(found)
    strips = [_strips(asked, run.seed)] if cell.params.get("decompose") == "passages" else []
    separates, verdict = found.verdict([lower, upper, *strips])
    return Finding(
        target="corrective",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(lower, upper, *strips),
        table=_table(found, lower, upper),
        separates=separates,
        verdict=verdict,
        notes=tuple(_notes(run.of(cell), asked, lower, upper, told=bool(strips))),
    )


def _evaluated(run: DevRun, cell: Cell) -> Iterator[Evaluated]:
    for record in run.of(cell):
        documents = {hit.passage_id: hit.doc_id for retrieval in record.retrievals for hit in retrieval.hits}
        marks = [
            (one.score, documents[one.subject])
            for one in record.decisions
            if one.node == "evaluate" and one.score is not None and one.tier and one.subject in documents
        ]
        if marks:
            supporting = set(run.gold[record.question_id].supporting_ids)
            scores, ids = zip(*marks, strict=True)
            yield Evaluated(record.question_id, scores, tuple(one in supporting for one in ids))


def _thresholds(found: Separation) -> tuple[Chosen, Chosen]:
    lower = found.choose(f"{_PLACE}.lower", keeps_at_least(SHARE), _LOWER)
    upper = found.choose(f"{_PLACE}.upper", refuses_at_least(SHARE), _UPPER)
    if upper.value is not None and (lower.value is None or upper.value >= lower.value):
        return lower, upper
    return found.choose(f"{_PLACE}.lower", largest_youden, _BOTH), found.choose(
        f"{_PLACE}.upper", largest_youden, _BOTH
    )


def _strips(asked: Sequence[Evaluated], seed: int) -> Chosen:
    """Where whole passages are the strips, their scores are those of the strips."""
    with_evidence, without = (
        {one.question_id: one.of(gold=gold, best=False) for one in asked} for gold in (True, False)
    )
    found = separation(with_evidence, without, _NAMES, seed)
    return found.choose(f"{_PLACE}.strip_threshold", largest_youden, YOUDEN)


def _table(found: Separation, lower: Chosen, upper: Chosen) -> TradeTable:
    wanted, unwanted = (np.array(one.scores) for one in (found.wanted, found.unwanted))
    headings = (f"evidence at or above (n={wanted.size})", f"others below (n={unwanted.size})", "J")
    rows = dict(shown_values(found.scored.scores, upper.value, None))
    if lower.value is not None:
        rows[lower.value] = "lower, upper" if lower.value == upper.value else "lower"
    marks = {value: "upper" if mark == "best" else mark for value, mark in rows.items()}

    def figures(threshold: float | None) -> tuple[Figure, ...]:
        cut = -np.inf if threshold is None else threshold
        kept = wilson_interval((wanted >= cut).astype(np.float64))
        refused = wilson_interval((unwanted < cut).astype(np.float64))
        return kept, refused, kept.mean + refused.mean - 1.0 if kept and refused else None

    order = sorted(marks, key=lambda value: -np.inf if value is None else value)
    return TradeTable(headings, tuple(TradeRow(value, marks[value], figures(value)) for value in order))


def _notes(
    records: Sequence[RunRecord], asked: Sequence[Evaluated], lower: Chosen, upper: Chosen, *, told: bool
) -> Iterator[str]:
    """What the actions were and would have been, and what cannot be told."""
    by_id = {one.question_id: one for one in asked}
    were = [
        (decision.choice, any(by_id[record.question_id].gold))
        for record in records
        for decision in record.decisions
        if decision.node == "decide_action" and record.question_id in by_id
    ]
    yield f"actions of this run: {_actions(were)}"
    would = [(_action(max(one.scores), lower.value, upper.value), any(one.gold)) for one in asked]
    yield f"actions at the best thresholds: {_actions(would)}"
    unreadable = sum(one.choice == "unreadable" for record in records for one in record.decisions)
    if unreadable:
        yield f"{unreadable} judgements could not be read and count as neither relevant nor irrelevant"
    if not told:
        yield "strip_threshold cannot be told: scores of strips are not in the journal, but with decompose=passages"


def _action(best: float, lower: float | None, upper: float | None) -> str:
    if upper is None or best >= upper:
        return "correct"
    return "ambiguous" if lower is None or best >= lower else "incorrect"


def _actions(taken: Sequence[tuple[str, bool]]) -> str:
    every, with_gold = Counter(action for action, _ in taken), Counter(action for action, gold in taken if gold)
    return ", ".join(
        f"{one} {every[one]} ({with_gold[one]} with evidence)" for one in ("correct", "ambiguous", "incorrect")
    )
