"""What stands around the table: what was measured, what the marks mean, what a reader must not conclude."""

from __future__ import annotations

from collections.abc import Sequence

from arena.llm import is_fake
from arena.report.figures import UNDEFINED
from arena.report.leaderboard import COVERAGE_FLOOR, Leaderboard
from arena.report.rows import Column
from arena.report.withheld import spending_notes

DRY_RUN = "DRY RUN (fake model)"


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
        "interval (Wilson for yes-or-no metrics and small or equal samples, else bootstrap); overlapping intervals are "
        f"no ranking. {UNDEFINED} = not defined. tokens: input + output per question. seconds: p50 / p95 per question, "
        "without queueing."
    )
    if board.prices and any(cell.cost_usd_per_question for cell in board.cells):
        text += f" USD: per question; {board.prices.source}, prices of {board.prices.as_of}."
    return f"{text} {_on_missing_scores()}" if _has_missing_scores(board) else text


def notes(board: Leaderboard, dropped: Sequence[Column] = ()) -> list[str]:
    """What went wrong in the run, and what the table had no room for; one sentence each."""
    failed = sum(cell.n_failed for cell in board.cells)
    truncated = sum(cell.n_truncated for cell in board.cells)
    lines = []
    if failed:
        lines.append(f"{_questions(failed)} failed: see `failure` in records.jsonl.")
    if truncated:
        lines.append(f"{_questions(truncated)} had a reply cut off at max_tokens: raise llm.max_tokens.")
    lines += spending_notes(board)
    if dropped:
        names = ", ".join(column.heading for column in dropped)
        lines.append(f"No room for {names}: widen the terminal, or send the output to a pipe or file.")
    return lines


def _on_missing_scores() -> str:
    return (
        "[low, high] = the mean with failed questions counted as 0 and as 1; the mean is withheld where more than "
        f"{1 - COVERAGE_FLOOR:.0%} of them failed. seconds leave failed questions out."
    )


def _has_missing_scores(board: Leaderboard) -> bool:
    return any(
        summary.coverage is not None and summary.coverage < 1
        for cell in board.cells
        for summary in cell.metrics.values()
    )


def _questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count:,} questions"
