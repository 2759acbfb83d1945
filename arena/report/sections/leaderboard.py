"""The leaderboard as headings and cells of text. Console and Markdown draw it.

The leaderboard as a page shows it: every column, and the same columns for each kind of question.

Tables of a page: names to the left, figures to the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.report.figures import (
    INVALID,
    Parts,
    Phrase,
    Quote,
    Quotes,
    metric_parts,
    path_of,
    ranks_text,
    resolve,
    seconds_parts,
    tokens_text,
    usd_text,
)
from arena.report.names import Mark, names_of, standing_of
from arena.report.text import Rows
from arena.types import GOLD_MODE


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures. `drop`: its turn to go where there is no room, 1 first; None: it always stays.

    `wanted`: whether a cell has anything to say in it; a column that no cell wants is left out.
    """

    heading: str
    parts: Callable[[CellSummary], Parts]
    drop: int | None = None
    wanted: Callable[[CellSummary], bool] = lambda cell: True


def _metric(heading: str, name: str, drop: int | None = None) -> Column:
    def wanted(cell: CellSummary) -> bool:
        summary = cell.metrics.get(name)
        return summary is not None and summary.coverage is not None

    def parts(cell: CellSummary) -> Parts:
        return (INVALID,) if wanted(cell) and cell.invalid(name) else metric_parts(cell.metrics.get(name))

    return Column(heading, parts, drop, wanted)


def _rank(heading: str, name: str, drop: int) -> Column:
    return Column(heading, lambda cell: (ranks_text(cell.ranks.get(name)),), drop, lambda cell: name in cell.ranks)


RECALL_RANK = _rank("recall rank", "retrieval_recall", drop=14)
F1_RANK = _rank("F1 rank", "answer_f1", drop=15)

COLUMNS = (
    Column("n", lambda cell: (str(cell.n_questions),)),
    Column("failed", lambda cell: (str(cell.n_failed),), wanted=lambda cell: cell.n_failed > 0),
    Column("abst.", lambda cell: (str(cell.n_abstained),), drop=10, wanted=lambda cell: cell.n_abstained > 0),
    _metric("recall", "retrieval_recall"),
    RECALL_RANK,
    _metric("recall@5", "recall_at_5", drop=2),
    _metric("recall@10", "recall_at_10", drop=3),
    _metric("full recall", "full_recall", drop=8),
    _metric("precision", "retrieval_precision", drop=1),
    _metric("MRR", "mrr", drop=6),
    _metric("EM", "answer_em", drop=9),
    _metric("F1", "answer_f1"),
    F1_RANK,
    _metric("contains", "answer_contains", drop=4),
    _metric("accuracy", "answer_accuracy", drop=13),
    _metric("faithfulness", "faithfulness", drop=12),
    _metric("lexical faith.", "lexical_faithfulness", drop=5),
    Column("tokens", lambda cell: (tokens_text(cell),)),
    Column(
        "USD",
        lambda cell: (usd_text(cell.cost_usd_per_question),),
        drop=11,
        wanted=lambda cell: bool(cell.cost_usd_per_question),
    ),
    Column("seconds", seconds_parts, drop=7),
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


def leaderboard_rows(board: Leaderboard, columns: Sequence[Column] | None = None, *, joint: str = " ") -> Rows:
    """The leaderboard's table.

    Args:
        board: what to show.
        columns: of figures; None = all that at least one cell wants.
        joint: between the parts of a figure; a line break makes narrow columns.
    """
    chosen = columns_of(board) if columns is None else tuple(columns)
    headings, names = names_of(board.cells)
    rows = (
        (*named, *(joint.join(column.parts(cell)) for column in chosen))
        for cell, named in zip(board.cells, names, strict=True)
    )
    return Rows((*headings, *(column.heading for column in chosen)), tuple(rows), len(headings))


Entry = str | Quote | Phrase | Mark


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. The first `n_names` columns are names, the others figures.

    `key`: what scripts know it by (empty: they do not). `heats`: per row and column a shade from 0 to 10, None = none;
    empty where nothing is shaded.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    n_names: int = 1
    caption: str = ""
    key: str = ""
    heats: tuple[tuple[int | None, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column. `metric`: the one it shows, if any; `wanted`: whether a cell has anything to say in it."""

    heading: str
    entry: Callable[[Quotes, int, CellSummary], Quote]
    wanted: Callable[[CellSummary], bool] = lambda cell: True
    metric: str | None = None


@dataclass(frozen=True, slots=True)
class BoardView:
    """`grid`; `metrics`: of each column, None = none; `groups`: see `_groups`; `flags`: per cell, what to beware of."""

    grid: Grid
    metrics: tuple[str | None, ...]
    groups: Mapping[str, Any]
    flags: tuple[tuple[str, ...], ...]
    whiskers: tuple[tuple[float, float, float] | None, ...]
    top: tuple[bool, ...]


def _plain(
    heading: str, rule: str, *tail: str, wanted: Callable[[CellSummary], bool] = lambda cell: True
) -> PageColumn:
    return PageColumn(heading, lambda quotes, place, cell: quotes.quote(rule, path_of("cells", place, *tail)), wanted)


def _metric_leaderboard_view(heading: str, metric: str) -> PageColumn:
    def entry(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
        return metric_quote(quotes, path_of("cells", place, "metrics", metric), cell, metric)

    return PageColumn(heading, entry, lambda cell: _is_defined(cell, metric), metric)


def _rank_leaderboard_view(heading: str, metric: str) -> PageColumn:
    def entry(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
        ranks = cell.ranks.get(metric)
        order = None if ranks is None else ranks.best + ranks.worst / 1000
        return quotes.quote("ranks", path_of("cells", place, "ranks", metric), order=order)

    return PageColumn(heading, entry, lambda cell: metric in cell.ranks)


def _tokens(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
    return quotes.quote("tokens", path_of("cells", place), order=cell.tokens)


def _seconds(quotes: Quotes, place: int, cell: CellSummary) -> Quote:
    return quotes.quote("seconds", path_of("cells", place), order=cell.latency_seconds.p50)


_RECALL_RANK = _rank_leaderboard_view("recall rank", "retrieval_recall")
_F1_RANK = _rank_leaderboard_view("F1 rank", "answer_f1")
_COLUMNS = (
    _plain("n", "count", "n_questions"),
    _plain("failed", "count", "n_failed", wanted=lambda cell: cell.n_failed > 0),
    _plain("abstained", "count", "n_abstained", wanted=lambda cell: cell.n_abstained > 0),
    _F1_RANK,
    _metric_leaderboard_view("F1", "answer_f1"),
    _metric_leaderboard_view("EM", "answer_em"),
    _metric_leaderboard_view("accuracy", "answer_accuracy"),
    _RECALL_RANK,
    _metric_leaderboard_view("recall", "retrieval_recall"),
    _metric_leaderboard_view("full recall", "full_recall"),
    _metric_leaderboard_view("precision", "retrieval_precision"),
    _metric_leaderboard_view("recall@5", "recall_at_5"),
    _metric_leaderboard_view("MRR", "mrr"),
    _metric_leaderboard_view("faithfulness", "faithfulness"),
    _metric_leaderboard_view("lexical faith.", "lexical_faithfulness"),
    PageColumn("tokens", _tokens),
    _plain("calls", "per_question", "llm_calls_per_question"),
    _plain("USD", "usd", "cost_usd_per_question", wanted=lambda cell: bool(cell.cost_usd_per_question)),
    PageColumn("seconds p50 / p95", _seconds),
)


def board_view(board: Leaderboard, marks: Sequence[Mark]) -> BoardView:
    """The columns that at least one cell wants; ranks by recall only where there are none by answers."""
    quotes = Quotes(board)
    wanted = [column for column in _COLUMNS if any(column.wanted(cell) for cell in board.cells)]
    columns = [one for one in wanted if one is not _RECALL_RANK or _F1_RANK not in wanted]
    rows: list[tuple[Entry, ...]] = [
        (marks[place], *(column.entry(quotes, place, cell) for column in columns))
        for place, cell in enumerate(board.cells)
    ]
    metrics = tuple(column.metric for column in columns)
    standing = standing_of(board)
    ranked = (
        standing.metric if standing else next((one for one in ("answer_f1", "retrieval_recall") if one in metrics), "")
    )
    return BoardView(
        Grid(("cell", *(column.heading for column in columns)), tuple(rows), key="leaderboard"),
        metrics,
        _groups(board, quotes),
        tuple(_flags(cell) for cell in board.cells),
        tuple(_whisker(cell, ranked) for cell in board.cells),
        tuple(bool(standing and place in standing.top) for place in range(len(board.cells))),
    )


def metric_quote(quotes: Quotes, path: str, cell: CellSummary, metric: str) -> Quote:
    """A metric of a cell; `invalid` where it says nothing."""
    if cell.invalid(metric) and _is_defined(cell, metric):
        return quotes.quote("invalid", path)
    return quotes.quote("metric", path, order=resolve(quotes.board, f"{path}.mean"))


def _is_defined(cell: CellSummary, metric: str) -> bool:
    return metric in cell.metrics and cell.metrics[metric].coverage is not None


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
