from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of text. The first `n_names` columns are names, the others figures."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int
