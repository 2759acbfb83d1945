"""Figures as a page quotes them: each with its place in leaderboard.json, and the rule by which it was rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.report.leaderboard import Leaderboard
from arena.report.page.rules import rule_named

_ESCAPES = {"%": "%25", ".": "%2E", " ": "%20"}


@dataclass(frozen=True, slots=True)
class Quote:
    """A figure. `paths`: where its values stand in leaderboard.json; `order`: what it is sorted by (None: last)."""

    text: str
    paths: tuple[str, ...]
    rule: str
    order: float | None = None

    @property
    def path(self) -> str:
        """The paths as one attribute."""
        return " ".join(self.paths)


Phrase = tuple["str | Quote", ...]
"""Words and figures in reading order."""


def step(key: str | int) -> str:
    """A key as one step of a path: without dot or space."""
    return "".join(_ESCAPES.get(one, one) for one in str(key))


def path_of(*keys: str | int) -> str:
    """As in `cells.3.metrics.answer_f1.mean`."""
    return ".".join(map(step, keys))


def resolve(board: Leaderboard, path: str) -> Any:
    """What stands at a path; None where nothing does."""
    found: Any = board
    for piece in path.split("."):
        key = piece.replace("%20", " ").replace("%2E", ".").replace("%25", "%")
        if isinstance(found, Mapping):
            found = found.get(key, found.get(int(key)) if key.isdigit() else None)
        elif isinstance(found, Sequence):
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = getattr(found, key, None)
        if found is None:
            return None
    return found


class Quotes:
    """Quotes from one leaderboard."""

    def __init__(self, board: Leaderboard) -> None:
        self.board = board

    def quote(self, rule: str, *paths: str, order: float | None = None) -> Quote:
        """The values at `paths`, written by `rule`; sorted by `order`, else by the first value if it is a number."""
        values = [resolve(self.board, path) for path in paths]
        first = values[0]
        if order is None and isinstance(first, int | float):
            order = float(first)
        return Quote(rule_named(rule)(*values), paths, rule, order)
