"""The leaderboard as headings and cells of text. Console and Markdown draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arena.report.cell_names import names_of
from arena.report.figures import INVALID, Parts, metric_parts, ranks_text, seconds_parts, tokens_text, usd_text
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.text_rows import Rows


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
