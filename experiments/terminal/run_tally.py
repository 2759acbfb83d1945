"""How far a run is: what each cell has done, what that took, and when the rest will be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from arena.types import LLMCall, RunRecord

UsdOf = Callable[[LLMCall], float | None]
"""What a call cost; None = unknown."""


@dataclass(slots=True)
class CellTally:
    """One cell, or all of them together.

    `done` of `total` questions have a record, `kept` of them since before this process; `failed`, `tokens` and `usd`
    are of this process alone. Unknown tokens and costs are left out: `usd` is None until any cost is known.
    """

    name: tuple[str, ...]
    total: int
    kept: int = 0
    done: int = field(init=False)
    failed: int = 0
    tokens: int = 0
    usd: float | None = None

    def __post_init__(self) -> None:
        self.done = self.kept

    def add(self, record: RunRecord, usd_of: UsdOf) -> None:
        """Count one record. Replayed calls cost nothing now."""
        self.done += 1
        self.failed += record.failure is not None
        for call in record.calls:
            if call.replayed:
                continue
            for attempt in call.attempts:
                self.tokens += (attempt.input_tokens or 0) + (attempt.output_tokens or 0)
            usd = usd_of(call)
            if usd is not None:
                self.usd = (self.usd or 0.0) + usd

    def seconds_left(self, elapsed_seconds: float) -> float | None:
        """Seconds to the end at this process's rate so far; None while it has none."""
        asked = self.done - self.kept
        return elapsed_seconds * (self.total - self.done) / asked if asked else None


class RunTally:
    """The cells of a run, in their order, and the whole."""

    def __init__(
        self, cells: Mapping[str, CellTally], usd_of: UsdOf, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`cells`: cell key -> where it stands at the start."""
        self._cells = dict(cells)
        self._usd_of = usd_of
        self._clock = clock
        self._started = clock()
        kept = sum(cell.kept for cell in cells.values())
        self.whole = CellTally(("all",), sum(cell.total for cell in cells.values()), kept)

    @property
    def cells(self) -> Sequence[CellTally]:
        return tuple(self._cells.values())

    @property
    def elapsed_seconds(self) -> float:
        return self._clock() - self._started

    def add(self, record: RunRecord) -> None:
        """Count one record, of one of the cells."""
        self._cells[record.cell.key].add(record, self._usd_of)
        self.whole.add(record, self._usd_of)
