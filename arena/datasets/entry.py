"""What the arena knows of a dataset before loading it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.datasets.citation import Citation
from arena.types import Dataset

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One row of the table of datasets; a third party's entry point in `arena.datasets` names one of these.

    `build` takes what stands after the colon of a spec (None when nothing does) and raises `DatasetError` when
    that will not do. `how_to_write` shows the spec, `source` says where the data come from. `licence` is that of
    the data; `citation` is None where there is nobody to cite.
    """

    build: Callable[[str | None], Dataset]
    summary: str
    how_to_write: str
    source: str
    licence: str = NOT_STATED
    citation: Citation | None = None
