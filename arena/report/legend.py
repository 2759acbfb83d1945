"""What stands around the table: what was measured, what the marks mean, what a reader must not conclude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from arena.llm import is_fake
from arena.report.comparisons import LEVEL
from arena.report.figures import UNDEFINED
from arena.report.leaderboard import COVERAGE_FLOOR, Leaderboard
from arena.report.rows import F1_RANK, RECALL_RANK, Column, columns_of
from arena.report.titles import warning_lines
from arena.report.validity import size_statement
from arena.report.withheld import spending_notes
from arena.types import JudgeMetric

DRY_RUN = "DRY RUN (fake model)"

_JUDGED: frozenset[str] = frozenset(get_args(JudgeMetric))


def caption(board: Leaderboard) -> str:
    """Data and models, as in `world, 240 documents; model local:smollm2-135m`."""
    models = sorted({cell.llm for cell in board.cells if cell.llm is not None})
    named = f"model{'s' if len(models) > 1 else ''} {', '.join(models)}" if models else "no model"
    dry = f"; {DRY_RUN}" if any(map(is_fake, models)) else ""
    return f"{board.dataset.name}, {board.dataset.n_documents:,} documents; {named}{dry}"


def legend(board: Leaderboard) -> str:
    """How to read the figures; what concerns failures is said only where there are any."""
    text = (
        "n = questions asked; a metric's own n may be smaller (the questions it is defined for). Scores: mean and 95% "
        "interval (Wilson for yes-or-no metrics and small or nearly equal samples, else bootstrap); overlapping "
        f"intervals are no ranking. {UNDEFINED} = not defined. tokens: input + output per question. seconds: p50 / p95 "
        "per question, without queueing."
    )
    if any(cell.n_abstained for cell in board.cells):
        text += (
            " An abstention scores 0 in every metric of the answer, judged or not, where the question has one; it "
            "claims nothing, so that faithfulness and citations are measured on the other answers."
        )
    if any(cell.n_warm_up for cell in board.cells):
        text += " The first question of each cell and process warms up and is left out of them."
    if metric := _ranked_by(board):
        text += f" {_on_ranks(board, metric)}"
    if board.prices and any(cell.cost_usd_per_question for cell in board.cells):
        text += f" USD: per question; {board.prices.source}, prices of {board.prices.as_of}."
    missing = {
        name
        for cell in board.cells
        for name, summary in cell.metrics.items()
        if summary.coverage is not None and summary.coverage < 1
    }
    return f"{text} {_on_missing_scores(judged=bool(missing & _JUDGED))}" if missing else text


def notes(board: Leaderboard, dropped: Sequence[Column] = ()) -> list[str]:
    """What went wrong in the run, what limits it, and what the table had no room for; one sentence each."""
    lines = warning_lines(board)
    lines += spending_notes(board)
    if detectable := _on_detectable(board):
        lines.append(detectable)
    if dropped:
        names = ", ".join(column.heading for column in dropped)
        lines.append(f"No room for {names}: widen the terminal, or send the output to a pipe or file.")
    return lines


def size_note(board: Leaderboard) -> str | None:
    """What the questions can show where the cells differ on too few to estimate it; None where a warning says it."""
    asked = max((cell.n_questions for cell in board.cells), default=0)
    if len(board.cells) < 2 or any(one.code == "few_questions" for one in board.all_warnings):
        return None
    statement = size_statement(asked)
    return f"{statement[0].upper()}{statement[1:]}; they differ on too few here to estimate it from these scores."


def _on_missing_scores(*, judged: bool) -> str:
    if judged:
        return (
            "[low, high] = the mean with what is missing counted as 0 and as 1: failed questions, and what a judge was "
            f"asked and did not say; the mean is withheld where more than {1 - COVERAGE_FLOOR:.0%} is missing. seconds "
            "leave failed questions out."
        )
    return (
        "[low, high] = the mean with failed questions counted as 0 and as 1; the mean is withheld where more than "
        f"{1 - COVERAGE_FLOOR:.0%} of them failed. seconds leave failed questions out."
    )


def _on_ranks(board: Leaderboard, metric: str) -> str:
    family = sum(one.metric == metric and one.p is not None for one in board.comparisons)
    pairs = "1 pair" if family == 1 else f"{family:,} pairs"
    return (
        f"rank: by {metric}, from 1 + the cells better by more than chance to all that compete less those worse by "
        f"more than chance (paired permutation test on shared questions, Holm over {pairs}, {LEVEL:.0%} level); ranges "
        "from 1 are the top group."
    )


def _on_detectable(board: Leaderboard) -> str | None:
    """What the comparison of the ranked metric could have found."""
    metric = _ranked_by(board)
    if metric is None:
        return None
    if metric not in board.detectable:
        return size_note(board)
    return (
        f"Two cells that truly differ by {board.detectable[metric]:.2f} in {metric} are told apart 4 times in 5 (one "
        f"pair alone, {LEVEL:.0%} level); smaller differences may be missed."
    )


def _ranked_by(board: Leaderboard) -> str | None:
    """The metric whose ranks the table shows."""
    columns = columns_of(board)
    return "answer_f1" if F1_RANK in columns else "retrieval_recall" if RECALL_RANK in columns else None


def _questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count:,} questions"
