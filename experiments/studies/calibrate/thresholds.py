"""Calibrate the thresholds of the reranker, of Corrective RAG and of Self-RAG.

The reranker's threshold: refuse what cannot be answered, by showing nothing, and keep the evidence of the rest.

Corrective RAG's thresholds: when is retrieved knowledge trusted, and when is all of it discarded. Of every question,
the evaluator's best score of a passage with gold evidence is what the action trigger sees where retrieval has
succeeded, and its best score of another passage what it would see where retrieval has failed.

Self-RAG's delta: retrieve where the model alone would be wrong, and not where it knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arena.errors import ConfigError
from arena.metrics.retrieval import precision, recall
from arena.statistics.intervals import wilson_interval
from arena.statistics.thresholds import keeps_at_least, largest_youden, refuses_at_least
from arena.types import KINDS, Cell, RunRecord
from experiments.execution.extras import judge_of
from experiments.studies.calibrate.separation import (
    LEAST,
    YOUDEN,
    Chosen,
    DevRun,
    Figure,
    Part,
    Reranked,
    Scores,
    Separation,
    TargetCalibration,
    TradeRow,
    TradeTable,
    rates,
    reranked,
    reranks,
    separation,
    shown_values,
)
from experiments.studies.strategies.labels import answered_right

_RERANK_SETTING = "rerank.threshold"
_RERANK_NAMES = ("evidence", "unanswerable")
_HOW = "arena run --strategies retrieval_only --modes hybrid_rerank --part dev"


def calibrate_rerank(run: DevRun) -> TargetCalibration:
    """Raises `ConfigError` where the run cannot tell."""
    cell, asked = _asked(run)
    held = {one.question_id: [score] for one in asked if (score := one.best_gold) is not None}
    empty = {one.question_id: one.scores[:1] for one in asked if not one.gold.answerable}
    if not empty:
        raise ConfigError(
            f"run {run.past.store.run_id!r} asks no unanswerable question: what a threshold refuses cannot be told"
        )
    found = separation(held, empty, _RERANK_NAMES, run.seed)
    best = found.choose(_RERANK_SETTING, largest_youden, YOUDEN)
    separates, verdict = found.verdict(best)
    parts = _by_kind(asked, held, empty, run.seed)
    alone = [part.name for part in parts if part.separates]
    if alone and not separates:
        verdict += f"; alone, {' and '.join(alone)} would"
    own = cell.params.get("threshold")
    rows = shown_values(found.scored.scores, best.value, own if isinstance(own, float) else None)
    return TargetCalibration(
        target="rerank",
        cell=cell.key,
        judge=str(cell.params["reranker"]),
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(best,),
        table=_rerank_table(asked, rows),
        separates=separates,
        verdict=verdict,
        parts=tuple(parts),
        notes=_rerank_notes(asked, held),
    )


def _asked(run: DevRun) -> tuple[Cell, list[Reranked]]:
    """The reranked cell that asked the index for the most questions as they stand, the first of equals."""
    cells = [one for one in run.cells if reranks(one.retrieval_mode) and "reranker" in one.params]
    found = [(cell, reranked(run, cell)) for cell in cells]
    if not any(asked for _, asked in found):
        raise ConfigError(f"run {run.past.store.run_id!r} has no retrieval of mode hybrid_rerank: make one with {_HOW}")
    return max(found, key=lambda one: len(one[1]))


def _rerank_table(asked: Sequence[Reranked], rows: Sequence[tuple[float | None, str]]) -> TradeTable:
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
        none_shown = [one.shown(threshold) == 0 for one in refusable]
        by_group = [rates([_keeps(one, threshold) for one in ones], none_shown) for ones in groups.values()]
        _, refused, worth = by_group[0]
        return (
            refused,
            *(kept for kept, _, _ in by_group),
            worth,
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
            found = separation(scores, empty, (kind, _RERANK_NAMES[1]), seed)
            best = found.choose(_RERANK_SETTING, largest_youden, YOUDEN)
            parts.append(Part(kind, len(scores), found.auc, best, *found.verdict(best)))
    return parts


def _rerank_notes(asked: Sequence[Reranked], held: Scores) -> tuple[str, ...]:
    lost = sum(one.gold.answerable for one in asked) - len(held)
    said = f"{lost} answerable questions had no gold evidence among their passages, and none to keep"
    return (said,) if lost else ()


def _keeps(one: Reranked, threshold: float | None) -> bool:
    best = one.best_gold
    return best is not None and (threshold is None or best >= threshold)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


_CORRECTIVE_SECTION = "strategy_params.corrective"
_CORRECTIVE_NAMES = ("evidence", "other passages")

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


def calibrate_corrective(run: DevRun) -> TargetCalibration:
    """Raises `ConfigError` where the run cannot tell."""
    cell = run.one_cell("corrective", lambda cell: True, "corrective on the part dev")
    asked = list(_evaluated(run, cell))
    found = _parted(asked, run.seed, best=True)
    lower, upper = _thresholds(found)
    strips = []
    if cell.params.get("decompose") == "passages":  # whole passages are the strips, and their scores those of strips
        found_of_all = _parted(asked, run.seed, best=False)
        strips = [found_of_all.choose(f"{_CORRECTIVE_SECTION}.strip_threshold", largest_youden, YOUDEN)]
    separates, verdict = found.verdict(lower, upper, *strips)
    return TargetCalibration(
        target="corrective",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(lower, upper, *strips),
        table=_corrective_table(found, lower, upper),
        separates=separates,
        verdict=verdict,
        notes=tuple(_corrective_notes(run.of(cell), asked, lower, upper, told=bool(strips))),
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
    lower = found.choose(f"{_CORRECTIVE_SECTION}.lower", keeps_at_least(SHARE), _LOWER)
    upper = found.choose(f"{_CORRECTIVE_SECTION}.upper", refuses_at_least(SHARE), _UPPER)
    if upper.value is not None and (lower.value is None or upper.value >= lower.value):
        return lower, upper
    return found.choose(f"{_CORRECTIVE_SECTION}.lower", largest_youden, _BOTH), found.choose(
        f"{_CORRECTIVE_SECTION}.upper", largest_youden, _BOTH
    )


def _parted(asked: Sequence[Evaluated], seed: int, *, best: bool) -> Separation:
    """The scores of passages with evidence and of those without; of every question's best one, or of all."""
    held, other = ({one.question_id: one.of(gold=gold, best=best) for one in asked} for gold in (True, False))
    return separation(held, other, _CORRECTIVE_NAMES, seed)


def _corrective_table(found: Separation, lower: Chosen, upper: Chosen) -> TradeTable:
    wanted, unwanted = (np.array(one.scores) for one in (found.wanted, found.unwanted))
    headings = (f"evidence at or above (n={wanted.size})", f"others below (n={unwanted.size})", "J")
    rows = dict(shown_values(found.scored.scores, upper.value, None))
    if lower.value is not None:
        rows[lower.value] = "lower, upper" if lower.value == upper.value else "lower"
    marks = {value: "upper" if mark == "best" else mark for value, mark in rows.items()}

    def figures(threshold: float | None) -> tuple[Figure, ...]:
        cut = -np.inf if threshold is None else threshold
        return rates(wanted >= cut, unwanted < cut)

    order = sorted(marks, key=lambda value: -np.inf if value is None else value)
    return TradeTable(headings, tuple(TradeRow(value, marks[value], figures(value)) for value in order))


def _corrective_notes(
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


_SELF_RAG_SETTING = "strategy_params.self_rag.delta"
_NODE, _FIRST = "retrieve?", "segment 1, text 1"
_SELF_RAG_NAMES = ("wrong without retrieval", "right without retrieval")


def calibrate_self_rag(run: DevRun) -> TargetCalibration:
    """Raises `ConfigError` where the run cannot tell."""
    cell = run.one_cell("self_rag", lambda cell: judge_of(cell) is not None, "self_rag and closed_book on the part dev")
    shares = {record.question_id: share for record in run.of(cell) if (share := _share(record)) is not None}
    if not shares:
        raise ConfigError(
            f"{cell.key} has no retrieval decision with a share: its judgements are labels (T0) or its constraints "
            "hard; delta means something only with label probabilities and soft constraints"
        )
    knows = _knows(run)
    wrong = {one: [share] for one, share in shares.items() if knows.get(one) is False}
    right = {one: [share] for one, share in shares.items() if knows.get(one)}
    if not right:
        raise ConfigError(
            f"closed_book answers none of the {len(wrong)} questions right that both were asked: retrieval was always "
            "needed, and when it is not cannot be told"
        )
    found = separation(wrong, right, _SELF_RAG_NAMES, run.seed)
    best = found.choose(_SELF_RAG_SETTING, largest_youden, YOUDEN)
    separates, verdict = found.verdict(best)
    own = cell.params.get("delta")
    rows = shown_values(found.scored.scores, best.value, float(own) if isinstance(own, int | float) else None)
    return TargetCalibration(
        target="self_rag",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(best,),
        table=_self_rag_table(found, rows),
        separates=separates,
        verdict=verdict,
        notes=("summaries and unanswerable questions are left out: nobody can be right on them from memory",),
    )


def _share(record: RunRecord) -> float | None:
    """P(yes) / (P(yes) + P(no)) before anything was written."""
    return next((one.score for one in record.decisions if one.node == _NODE and one.subject == _FIRST), None)


def _knows(run: DevRun) -> dict[str, bool]:
    """Question id -> whether the model alone is right: an exact match, and no abstention."""
    cells = [cell for cell in run.cells if cell.strategy == "closed_book"]
    if len(cells) != 1:
        raise ConfigError(
            f"run {run.past.store.run_id!r} has {len(cells)} cells of closed_book, and one is needed to tell when "
            "retrieval is: run self_rag and closed_book on the part dev"
        )
    return {
        record.question_id: bool(answered_right(record, gold))
        for record in run.of(cells[0])
        if (gold := run.gold[record.question_id]).answerable and run.questions[record.question_id].kind != "summary"
    }


def _self_rag_table(found: Separation, rows: Sequence[tuple[float | None, str]]) -> TradeTable:
    wrong, right = (np.array(one.scores) for one in (found.wanted, found.unwanted))
    every = found.scored.scores
    headings = (
        f"retrieved where needed (n={wrong.size})",
        f"not where not (n={right.size})",
        "J",
        f"retrieved (n={every.size})",
    )

    def figures(delta: float | None) -> tuple[Figure, ...]:
        cut = -np.inf if delta is None else delta
        return *rates(wrong > cut, right <= cut), wilson_interval((every > cut).astype(np.float64))

    return TradeTable(headings, tuple(TradeRow(value, mark, figures(value)) for value, mark in rows))
