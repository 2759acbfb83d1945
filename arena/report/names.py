"""What cells, metrics and costs are called, and how a cell looks throughout a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.validity import sentences
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, OWN_MODE, Cell

AnyCell = CellSummary | Cell


def names_of(cells: Sequence[AnyCell]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings, and the names of each cell under them: strategy, mode, and setting where namesakes differ in one."""
    settings = [setting_of(cell, cells) for cell in cells]
    headings = ("strategy", "mode", "setting") if any(settings) else ("strategy", "mode")
    names = [
        (cell.strategy, cell.retrieval_mode, setting)[: len(headings)]
        for cell, setting in zip(cells, settings, strict=True)
    ]
    return headings, names


def setting_of(cell: AnyCell, cells: Sequence[AnyCell]) -> str:
    """In what a cell differs from its namesakes, as in `k=5`; empty when it has none."""
    namesakes = [
        {"llm": other.llm, **other.params}
        for other in cells
        if (other.strategy, other.retrieval_mode) == (cell.strategy, cell.retrieval_mode)
    ]
    own = {"llm": cell.llm, **cell.params}
    names = sorted({name for setting in namesakes for name in setting})
    return ", ".join(
        f"{name}={own.get(name)}" for name in names if any(other.get(name) != own.get(name) for other in namesakes)
    )


def cell_name(strategy: str, mode: str, setting: str = "") -> str:
    """As in `corrective + hybrid (k=5)`; the mode of a control that has no choice of one is left out."""
    joint = strategy if mode in (GOLD_MODE, NO_RETRIEVAL_MODE, OWN_MODE) else f"{strategy} + {mode}"
    return f"{joint} ({setting})" if setting else joint


def name_of(cell: AnyCell, cells: Sequence[AnyCell] = ()) -> str:
    """What a cell is called wherever it is not a row of a table, told apart from its namesakes among `cells`."""
    return cell_name(cell.strategy, cell.retrieval_mode, setting_of(cell, cells))


HUES = 8
"""Colours of the palette; the ninth strategy has the first one's, and its name."""

SHAPES = ("circle", "square", "diamond", "cross", "star", "triangle-up", "triangle-down", "hexagon")
_OWN_SHAPES = {"dense": 0, "hybrid": 1, "hybrid_rerank": 2, NO_RETRIEVAL_MODE: 3, GOLD_MODE: 4}
_FREE_SHAPES = (5, 6, 7)


@dataclass(frozen=True, slots=True)
class Mark:
    """A cell. `place`: its row of the leaderboard; `hue` 0..HUES-1; `shape`: one of SHAPES."""

    place: int
    strategy: str
    mode: str
    setting: str
    hue: int
    shape: str

    @property
    def name(self) -> str:
        return cell_name(self.strategy, self.mode, self.setting)


def marks_of(board: Leaderboard) -> tuple[Mark, ...]:
    """One for each cell, in the order of the leaderboard."""
    strategies = list(dict.fromkeys(cell.strategy for cell in board.cells))
    others = [mode for mode in dict.fromkeys(cell.retrieval_mode for cell in board.cells) if mode not in _OWN_SHAPES]
    shapes = _OWN_SHAPES | {mode: _FREE_SHAPES[place % len(_FREE_SHAPES)] for place, mode in enumerate(others)}
    return tuple(
        Mark(
            place,
            cell.strategy,
            cell.retrieval_mode,
            setting_of(cell, board.cells),
            hue=strategies.index(cell.strategy) % HUES,
            shape=SHAPES[shapes[cell.retrieval_mode]],
        )
        for place, cell in enumerate(board.cells)
    )


METRICS: Mapping[str, str] = {
    "answer_f1": "answer F1",
    "answer_em": "exact match",
    "answer_accuracy": "judged accuracy",
    "answer_contains": "containment",
    "retrieval_recall": "recall",
    "full_recall": "full recall",
    "retrieval_precision": "precision",
    "faithfulness": "judged faithfulness",
    "lexical_faithfulness": "lexical faithfulness",
    "correct_abstention": "correct abstention",
    "false_abstention": "false abstention",
    "mrr": "MRR",
}

COSTS: Mapping[str, str] = {
    "tokens": "tokens per question",
    "usd": "US dollars per question",
    "calls": "model calls per question",
    "seconds": "seconds per question",
}


def metric_name(metric: str) -> str:
    """As in `answer F1`; a metric without a name of its own is called by its key."""
    return METRICS.get(metric, metric.replace("_", " "))


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """As in `a, b and c`; of many, the first and how many more."""
    if len(names) > at_most + 1:
        return f"{', '.join(names[:at_most])} and {len(names) - at_most:,} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def is_invented(board: Leaderboard) -> bool:
    """Whether the questions are of the made-up world, which no model can have read of."""
    return board.dataset.name.partition(":")[0] == "world"


def short_names(board: Leaderboard) -> dict[str, str]:
    """Cell key -> its name among those of the leaderboard."""
    return {cell.cell: name_of(cell, board.cells) for cell in board.cells}


def warning_lines(board: Leaderboard) -> list[str]:
    """The validity warnings, a sentence each."""
    return sentences(board.all_warnings, short_names(board))


RANKED = ("answer_f1", "retrieval_recall")
"""What cells are ranked by: answers, or evidence where nothing writes answers."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who competes on `metric`, by place: those of the top group, the highest mean first, and all."""

    metric: str
    top: tuple[int, ...]
    all: tuple[int, ...]


def standing_of(board: Leaderboard) -> Standing | None:
    """The contest that the headline is about; None where no two cells could be compared."""
    for metric in RANKED:
        competing = tuple(place for place, cell in enumerate(board.cells) if metric in cell.ranks)
        if competing:
            means = {place: board.cells[place].metrics[metric].mean or 0.0 for place in competing}
            top = [place for place in competing if board.cells[place].ranks[metric].in_top_group]
            return Standing(metric, tuple(sorted(top, key=lambda place: (-means[place], place))), competing)
    return None
