"""Tables of a page: names to the left, figures to the right."""

from __future__ import annotations

from dataclasses import dataclass

from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quote

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
