"""The leaderboard as headings and cells of text; the one place that rounds. Console and Markdown draw it."""

from __future__ import annotations

from dataclasses import dataclass

from arena.report.leaderboard import CellSummary, Leaderboard, MetricSummary

UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """One metric's column; `wide` ones are left out where there is little room."""

    heading: str
    metric: str
    wide: bool = False


COLUMNS = (
    Column("recall", "retrieval_recall"),
    Column("recall@5", "recall_at_5", wide=True),
    Column("full recall", "full_recall"),
    Column("precision", "retrieval_precision", wide=True),
    Column("MRR", "mrr"),
    Column("EM", "answer_em"),
    Column("F1", "answer_f1"),
    Column("contains", "answer_contains", wide=True),
)
"""In reading order: evidence first, then answers."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of text. The first two columns are names, the others figures."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def leaderboard_rows(board: Leaderboard, *, wide: bool = True) -> Rows:
    """The leaderboard's table; a metric that no cell has is left out."""
    columns = [
        column
        for column in COLUMNS
        if (wide or not column.wide) and any(_defined(cell, column.metric) for cell in board.cells)
    ]
    headings = ("strategy", "mode", "n", *(column.heading for column in columns), "tokens", "p50 s", "p95 s")
    return Rows(headings, tuple(_row(cell, columns) for cell in board.cells))


def metric_text(summary: MetricSummary | None) -> str:
    """`0.56 ±.06`: mean and half the width of its 95 % interval; withheld when coverage is too low."""
    if summary is None or summary.coverage is None:
        return UNDEFINED
    if summary.mean is None or summary.ci_low is None or summary.ci_high is None:
        return f"withheld ({summary.coverage:.0%})"
    return f"{summary.mean:.2f} ±{(summary.ci_high - summary.ci_low) / 2:.2f}".replace("±0.", "±.")


def legend(board: Leaderboard) -> str:
    """What the marks mean, and what a reader must not conclude."""
    text = (
        "Mean ± half the width of its 95 % bootstrap interval over questions; overlapping intervals are no ranking. "
        f"{UNDEFINED} = not defined. * = nobody has a higher F1 for fewer tokens. "
        "Seconds are per question, without queueing."
    )
    failed = sum(cell.n_failed for cell in board.cells)
    return f"{text} {failed} question(s) failed: see `failure` in records.jsonl." if failed else text


def _row(cell: CellSummary, columns: list[Column]) -> tuple[str, ...]:
    name = f"{cell.strategy} *" if cell.on_pareto_front else cell.strategy
    asked = str(cell.n_questions) + (f" ({cell.n_failed} failed)" if cell.n_failed else "")
    scores = [metric_text(cell.metrics.get(column.metric)) for column in columns]
    return (name, cell.retrieval_mode, asked, *scores, _tokens(cell), *_seconds(cell))


def _defined(cell: CellSummary, name: str) -> bool:
    summary = cell.metrics.get(name)
    return summary is not None and summary.coverage is not None


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
