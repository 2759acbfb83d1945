"""The leaderboard in a terminal."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.report.leaderboard import CellSummary, Leaderboard, MetricSummary

COLUMNS: tuple[tuple[str, str], ...] = (
    ("recall", "retrieval_recall"),
    ("recall@5", "recall_at_5"),
    ("full recall", "full_recall"),
    ("precision", "retrieval_precision"),
    ("MRR", "mrr"),
    ("EM", "answer_em"),
    ("F1", "answer_f1"),
    ("contains", "answer_contains"),
)
"""Heading and metric of each score column, in reading order: evidence first, then answers."""

UNDEFINED = "\u2013"


def render(board: Leaderboard) -> RenderableType:
    """The table and a line on how to read it."""
    title = f"{board.dataset.name}: {board.dataset.n_documents} documents, run {board.run_id}"
    table = Table(title=Text(title), title_justify="left")
    for heading in ("strategy", "mode", "n"):
        table.add_column(heading, justify="right" if heading == "n" else "left", no_wrap=True)
    shown = [(heading, name) for heading, name in COLUMNS if any(_defined(cell, name) for cell in board.cells)]
    for heading, _ in shown:
        table.add_column(heading, justify="right")
    for heading in ("tokens", "p50 s", "p95 s"):
        table.add_column(heading, justify="right")
    for cell in board.cells:
        scores = [metric(cell.metrics.get(name)) for _, name in shown]
        row = (_name(cell), cell.retrieval_mode, _asked(cell), *scores, _tokens(cell), *_seconds(cell))
        table.add_row(*(Text(text) for text in row))
    return Group(table, Text(legend(board), style="dim"))


def print_leaderboard(board: Leaderboard, console: Console) -> None:
    """Print to `console`, wide enough for every column when it is not a terminal."""
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, 160))
    console.print(render(board))


def metric(summary: MetricSummary | None) -> str:
    """`0.56 ±.06`: mean and half the width of its 95 % interval; withheld when coverage is too low."""
    if summary is None or summary.coverage is None:
        return UNDEFINED
    if summary.mean is None or summary.ci_low is None or summary.ci_high is None:
        return f"withheld ({summary.coverage:.0%})"
    return f"{summary.mean:.2f} \u00b1{(summary.ci_high - summary.ci_low) / 2:.2f}".replace("\u00b10.", "\u00b1.")


def legend(board: Leaderboard) -> str:
    """What the marks mean, and what a reader must not conclude."""
    lines = [
        "mean ± half the 95 % bootstrap interval over questions; overlapping intervals are no ranking. "
        f"{UNDEFINED} = not defined. * = nobody is better at fewer tokens."
    ]
    if failed := sum(cell.n_failed for cell in board.cells):
        lines.append(f"{failed} question(s) failed and are missing from the means; see records.jsonl.")
    return "\n".join(lines)


def _defined(cell: CellSummary, name: str) -> bool:
    summary = cell.metrics.get(name)
    return summary is not None and summary.coverage is not None


def _name(cell: CellSummary) -> str:
    return f"{cell.strategy} *" if cell.on_pareto_front else cell.strategy


def _asked(cell: CellSummary) -> str:
    return str(cell.n_questions) + (f" ({cell.n_failed} failed)" if cell.n_failed else "")


def _tokens(cell: CellSummary) -> str:
    if not cell.llm_calls_per_question:
        return "0"
    spent = cell.tokens_per_question
    return "unknown" if spent.input is None or spent.output is None else f"{spent.input + spent.output:,.0f}"


def _seconds(cell: CellSummary) -> tuple[str, str]:
    seconds = cell.latency_seconds
    if seconds.p50 is None or seconds.p95 is None:
        return UNDEFINED, UNDEFINED
    return f"{seconds.p50:.2f}", f"{seconds.p95:.2f}"
