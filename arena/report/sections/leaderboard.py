"""The leaderboard's table: one list of columns, from which a terminal, Markdown and a page are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.report.figures import Quote, Quotes, path_of, resolve
from arena.report.names import RANKED, Mark, marks_of, standing_of
from arena.report.section import Entry, Grid, rows_of
from arena.report.text import Rows
from arena.types import GOLD_MODE


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures. `drop`: its turn to go where there is no room, 1 first; None: it always stays.

    `wanted`: whether a cell has anything to say in it; a column that no cell wants is left out. `metric`: the one it
    shows, if any.
    """

    heading: str
    quote: Callable[[Quotes, int, CellSummary], Quote]
    drop: int | None = None
    wanted: Callable[[CellSummary], bool] = lambda cell: True
    metric: str | None = None


def _figure(
    heading: str,
    rule: str,
    *tail: str,
    drop: int | None = None,
    wanted: Callable[[CellSummary], bool] = lambda cell: True,
    order: Callable[[CellSummary], float | None] = lambda cell: None,
) -> Column:
    """What stands at `tail` in a cell, written by `rule`."""

    def quote(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
        return quotes.quote(rule, path_of("cells", place, *tail), order=order(cell))

    return Column(heading, quote, drop, wanted)


def metric_column(heading: str, metric: str, drop: int | None = None) -> Column:
    """The column of a metric."""

    def quote(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
        return metric_quote(quotes, path_of("cells", place, "metrics", metric), cell, metric)

    return Column(heading, quote, drop, lambda cell: cell.defines(metric), metric)


def _rank(heading: str, metric: str, drop: int) -> Column:
    def order(cell: CellSummary) -> float | None:
        ranks = cell.ranks.get(metric)
        return None if ranks is None else ranks.best + ranks.worst / 1000

    return _figure(heading, "ranks", "ranks", metric, drop=drop, wanted=lambda cell: metric in cell.ranks, order=order)


RECALL_RANK = _rank("recall rank", "retrieval_recall", drop=15)
F1_RANK = _rank("F1 rank", "answer_f1", drop=16)
TOKENS = _figure("tokens", "tokens", order=lambda cell: cell.tokens)
SECONDS = _figure("seconds", "seconds", drop=8, order=lambda cell: cell.latency_seconds.p50)

COLUMNS = (
    _figure("n", "count", "n_questions"),
    _figure("failed", "count", "n_failed", wanted=lambda cell: cell.n_failed > 0),
    _figure("abstained", "count", "n_abstained", drop=11, wanted=lambda cell: cell.n_abstained > 0),
    metric_column("recall", "retrieval_recall"),
    RECALL_RANK,
    metric_column("recall@5", "recall_at_5", drop=2),
    metric_column("recall@10", "recall_at_10", drop=3),
    metric_column("full recall", "full_recall", drop=9),
    metric_column("precision", "retrieval_precision", drop=1),
    metric_column("MRR", "mrr", drop=6),
    metric_column("EM", "answer_em", drop=10),
    metric_column("F1", "answer_f1"),
    F1_RANK,
    metric_column("contains", "answer_contains", drop=4),
    metric_column("accuracy", "answer_accuracy", drop=14),
    metric_column("faithfulness", "faithfulness", drop=13),
    metric_column("lexical faith.", "lexical_faithfulness", drop=5),
    TOKENS,
    _figure(
        "calls", "per_question", "llm_calls_per_question", drop=7, wanted=lambda cell: bool(cell.llm_calls_per_question)
    ),
    _figure("USD", "usd", "cost_usd_per_question", drop=12, wanted=lambda cell: bool(cell.cost_usd_per_question)),
    SECONDS,
)
"""In reading order: evidence, answers, price. What is dropped first is closest to what another column says."""


def columns_of(board: Leaderboard) -> tuple[Column, ...]:
    """The columns that at least one cell wants; ranks by recall only where there are none by answers."""
    wanted = tuple(column for column in COLUMNS if any(column.wanted(cell) for cell in board.cells))
    return tuple(column for column in wanted if column is not RECALL_RANK or F1_RANK not in wanted)


def narrowings(columns: Sequence[Column]) -> Iterator[tuple[Column, ...]]:
    """`columns`, then ever fewer of them, one dropped at a time, down to those that always stay."""
    turns = sorted(column.drop for column in columns if column.drop is not None)
    for gone in (0, *turns):
        yield tuple(column for column in columns if column.drop is None or column.drop > gone)


def leaderboard_grid(board: Leaderboard, marks: Sequence[Mark], columns: Sequence[Column] | None = None) -> Grid:
    """A row per cell. `columns`: of figures; None = all that at least one cell wants."""
    chosen, quotes = columns_of(board) if columns is None else tuple(columns), Quotes(board)
    rows: list[tuple[Entry, ...]] = [
        (mark, *(column.quote(quotes, mark.place, board.cells[mark.place]) for column in chosen)) for mark in marks
    ]
    return Grid(("cell", *(column.heading for column in chosen)), tuple(rows), key="leaderboard")


def leaderboard_rows(board: Leaderboard, columns: Sequence[Column] | None = None, *, broken: bool = False) -> Rows:
    """The table as text. `broken`: what follows a figure in brackets stands below it, which makes narrow columns."""
    rows = rows_of(leaderboard_grid(board, marks_of(board), columns))
    if not broken:
        return rows
    return replace(
        rows,
        rows=tuple((*row[: rows.n_names], *(_in_two_lines(text) for text in row[rows.n_names :])) for row in rows.rows),
    )


def _in_two_lines(figure: str) -> str:
    return figure.replace(" [", "\n[").replace(" (", "\n(")


def board_view(board: Leaderboard, marks: Sequence[Mark]) -> dict[str, Any]:
    """What a page shows in and beside the table.

    `grid`; `metrics`: of each column, None = none; `groups`: see `_groups`; `flags`: per cell, what to beware of;
    `whiskers`: per cell low, mean and high of the ranked metric; `top`: whether it is in the top group.
    """
    metrics = tuple(column.metric for column in columns_of(board))
    standing = standing_of(board)
    ranked = standing.metric if standing else next((one for one in RANKED if one in metrics), "")
    return {
        "grid": leaderboard_grid(board, marks),
        "metrics": metrics,
        "groups": _groups(board, Quotes(board)),
        "flags": [_flags(cell) for cell in board.cells],
        "whiskers": [_whisker(cell, ranked) for cell in board.cells],
        "top": [bool(standing and place in standing.top) for place in range(len(board.cells))],
    }


def metric_quote(quotes: Quotes, path: str, cell: CellSummary, metric: str) -> Quote:
    """A metric of a cell; `invalid` where it says nothing."""
    if cell.invalid(metric) and cell.defines(metric):
        return quotes.quote("invalid", path)
    return quotes.quote("metric", path, order=resolve(quotes.board, f"{path}.mean"))


def _groups(board: Leaderboard, quotes: Quotes) -> dict[str, Any]:
    """`attribute=value` -> place of the cell -> metric -> [text, path, value to sort by]."""
    groups: dict[str, dict[str, dict[str, list[Any]]]] = {}
    for place, cell in enumerate(board.cells):
        for attribute, values in cell.breakdown.items():
            for value, metrics in values.items():
                found = groups.setdefault(f"{attribute}={value}", {}).setdefault(str(place), {})
                for metric in metrics:
                    quote = metric_quote(
                        quotes, path_of("cells", place, "breakdown", attribute, value, metric), cell, metric
                    )
                    found[metric] = [quote.text, quote.path, quote.rule, quote.order]
    return groups


def _flags(cell: CellSummary) -> tuple[str, ...]:
    """What a reader must know before reading a row, in words."""
    flags = []
    if cell.retrieval_mode == GOLD_MODE:
        flags.append("handed the gold: a ceiling, no contestant")
    if any(one.metric is None for one in cell.guards):
        flags.append("invalid")
    patchy = [name for name, one in cell.metrics.items() if one.coverage is not None and one.coverage < 1]
    if withheld := [name for name in patchy if cell.metrics[name].mean is None]:
        flags.append(f"mean withheld: {len(withheld):,} of its metrics lack too many scores")
    elif patchy:
        flags.append("some scores missing")
    return tuple(flags)


def _whisker(cell: CellSummary, metric: str) -> tuple[float, float, float] | None:
    """Low, mean and high of the ranked metric, where it may be read."""
    summary = cell.metrics.get(metric)
    if summary is None or summary.mean is None or summary.ci_low is None or summary.ci_high is None:
        return None
    return None if cell.invalid(metric) else (summary.ci_low, summary.mean, summary.ci_high)
