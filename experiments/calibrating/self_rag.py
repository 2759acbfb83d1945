"""Self-RAG's delta: retrieve where the model alone would be wrong, and not where it knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from arena.errors import ConfigError
from arena.metrics.answer import exact_match
from arena.statistics.intervals import wilson_interval
from arena.statistics.thresholds import largest_youden
from arena.types import Cell, RunRecord
from experiments.calibrating.dev_run import DevRun
from experiments.calibrating.finding import Figure, Finding, TradeRow, TradeTable
from experiments.calibrating.grid import shown_values
from experiments.calibrating.separation import YOUDEN, Separation, separation
from experiments.run.extras import judge_of

SETTING = "strategy_params.self_rag.delta"
_NODE, _FIRST = "retrieve?", "segment 1, text 1"
_NAMES = ("wrong without retrieval", "right without retrieval")


def calibrate_self_rag(run: DevRun) -> Finding:
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
    found = separation(wrong, right, _NAMES, run.seed)
    best = found.choose(SETTING, largest_youden, YOUDEN)
    separates, verdict = found.verdict([best])
    own = cell.params.get("delta")
    rows = shown_values(found.scored.scores, best.value, float(own) if isinstance(own, int | float) else None)
    return Finding(
        target="self_rag",
        cell=cell.key,
        judge=judge_of(cell) or "",
        populations=(found.wanted, found.unwanted),
        auc=found.auc,
        chosen=(best,),
        table=_table(found, rows),
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
    return dict(_right(run, cells[0]))


def _right(run: DevRun, cell: Cell) -> Iterator[tuple[str, bool]]:
    for record in run.of(cell):
        gold, answer = run.gold[record.question_id], record.answer
        if answer is not None and gold.answerable and run.questions[record.question_id].kind != "summary":
            yield (
                record.question_id,
                not answer.abstained and bool(exact_match(answer.text or "", gold.answers, official=gold.official)),
            )


def _table(found: Separation, rows: Sequence[tuple[float | None, str]]) -> TradeTable:
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
        needed = wilson_interval((wrong > cut).astype(np.float64))
        spared = wilson_interval((right <= cut).astype(np.float64))
        worth = needed.mean + spared.mean - 1.0 if needed and spared else None
        return needed, spared, worth, wilson_interval((every > cut).astype(np.float64))

    return TradeTable(headings, tuple(TradeRow(value, mark, figures(value)) for value, mark in rows))
