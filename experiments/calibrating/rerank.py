"""The reranker's threshold: refuse what cannot be answered, by showing nothing, and keep the evidence of the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.errors import ConfigError
from arena.metrics.retrieval import precision, recall
from arena.statistics.intervals import Interval, wilson_interval
from arena.statistics.thresholds import largest_youden
from arena.types import KINDS, Cell
from experiments.calibrating.dev_run import DevRun, reranks
from experiments.calibrating.finding import Figure, Finding, Part, TradeRow, TradeTable
from experiments.calibrating.grid import shown_values
from experiments.calibrating.separation import LEAST, YOUDEN, Scores, separation
from experiments.calibrating.shown import Reranked, reranked

SETTING = "rerank.threshold"
_NAMES = ("evidence", "unanswerable")
_HOW = "arena run --strategies retrieval_only --modes hybrid_rerank --part dev"


def calibrate_rerank(run: DevRun) -> Finding:
    """Raises `ConfigError` where the run cannot tell."""
    cell, asked = _asked(run)
    held = {one.question_id: [score] for one in asked if (score := one.best_gold) is not None}
    empty = {one.question_id: one.scores[:1] for one in asked if not one.gold.answerable}
    if not empty:
        raise ConfigError(
            f"run {run.past.store.run_id!r} asks no unanswerable question: what a threshold refuses cannot be told"
        )
    found = separation(held, empty, _NAMES, run.seed)
    best = found.choose(SETTING, largest_youden, YOUDEN)
    separates, verdict = found.verdict([best])
    parts = _by_kind(asked, held, empty, run.seed)
    alone = [part.name for part in parts if part.separates]
    if alone and not separates:
        verdict += f"; alone, {' and '.join(alone)} would"
    own = cell.params.get("threshold")
    rows = shown_values(found.scored.scores, best.value, own if isinstance(own, float) else None)
    return Finding(
        target="rerank",
        cell=cell.key,
        judge=str(cell.params["reranker"]),
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(best,),
        table=_table(asked, rows),
        separates=separates,
        verdict=verdict,
        parts=tuple(parts),
        notes=_notes(asked, held),
    )


def _asked(run: DevRun) -> tuple[Cell, list[Reranked]]:
    """The reranked cell that asked the index for the most questions as they stand, the first of equals."""
    questions = run.questions
    kinds = {one.question_id: one.kind for one in questions.values()}
    texts = {one.question_id: one.text for one in questions.values()}
    documents = {one.doc_id: one for one in run.past.dataset.documents}
    cells = [one for one in run.cells if reranks(one.retrieval_mode) and "reranker" in one.params]
    found = [(cell, reranked(run.of(cell), kinds, texts, run.gold, documents)) for cell in cells]
    if not any(asked for _, asked in found):
        raise ConfigError(f"run {run.past.store.run_id!r} has no retrieval of mode hybrid_rerank: make one with {_HOW}")
    return max(found, key=lambda one: len(one[1]))


def _table(asked: Sequence[Reranked], rows: Sequence[tuple[float | None, str]]) -> TradeTable:
    answerable = [one for one in asked if one.gold.answerable]
    holding = [one for one in answerable if one.best_gold is not None]
    refusable = [one for one in asked if not one.gold.answerable]
    groups: dict[str, list[Reranked]] = {"evidence kept": holding}
    if len({one.kind for one in holding}) > 1:
        groups |= {kind: ones for kind in KINDS if (ones := [one for one in holding if one.kind == kind])}
    headings = (
        f"refused (n={len(refusable)})",
        *(f"{name} (n={len(ones)})" for name, ones in groups.items()),
        "J",
        f"recall (n={len(answerable)})",
        "precision",
        f"passages (n={len(asked)})",
        "words",
    )

    def figures(threshold: float | None) -> tuple[Figure, ...]:
        refused = _rate([one.shown(threshold) == 0 for one in refusable])
        kept = [_rate([_keeps(one, threshold) for one in ones]) for ones in groups.values()]
        return (
            refused,
            *kept,
            refused.mean + kept[0].mean - 1.0 if refused and kept[0] else None,
            _mean([recall(one.doc_ids[: one.shown(threshold)], one.gold.supporting_ids) for one in answerable]),
            _mean([precision(one.doc_ids[: one.shown(threshold)], one.gold.supporting_ids) for one in answerable]),
            _mean([one.shown(threshold) for one in asked]),
            _mean([sum(one.words[: one.shown(threshold)]) for one in asked]),
        )

    return TradeTable(headings, tuple(TradeRow(value, mark, figures(value)) for value, mark in rows))


def _by_kind(asked: Sequence[Reranked], held: Scores, empty: Scores, seed: int) -> list[Part]:
    """Each kind of answerable question alone against the unanswerable; nothing where there is but one."""
    kinds = {one.question_id: one.kind for one in asked}
    groups = {kind: {one: score for one, score in held.items() if kinds[one] == kind} for kind in KINDS}
    present = {kind: scores for kind, scores in groups.items() if scores}
    if len(present) < 2:
        return []
    parts = []
    for kind, scores in present.items():
        if len(scores) >= LEAST:
            found = separation(scores, empty, (kind, _NAMES[1]), seed)
            best = found.choose(SETTING, largest_youden, YOUDEN)
            parts.append(Part(kind, len(scores), found.auc, best, *found.verdict([best])))
    return parts


def _notes(asked: Sequence[Reranked], held: Scores) -> tuple[str, ...]:
    lost = sum(one.gold.answerable for one in asked) - len(held)
    said = f"{lost} answerable questions had no gold evidence among their passages, and none to keep"
    return (said,) if lost else ()


def _keeps(one: Reranked, threshold: float | None) -> bool:
    best = one.best_gold
    return best is not None and (threshold is None or best >= threshold)


def _rate(hits: Sequence[bool]) -> Interval | None:
    return wilson_interval(np.array(hits, dtype=np.float64))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
