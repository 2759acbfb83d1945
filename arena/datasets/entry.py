"""What the arena knows of a dataset before loading it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.types import Dataset


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One row of the table of datasets; a third party's entry point in `arena.datasets` names one of these.

    `build` takes what stands after the colon of a spec (None when nothing does) and raises `DatasetError` when
    that will not do. `how_to_write` shows the spec, `source` says where the data come from, their licence
    and whom to cite.
    """

    build: Callable[[str | None], Dataset]
    summary: str
    how_to_write: str
    source: str
