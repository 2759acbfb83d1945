from __future__ import annotations

from dataclasses import dataclass

from arena.report.leaderboard import Leaderboard

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
