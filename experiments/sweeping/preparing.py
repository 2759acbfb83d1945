"""Points made ready to be asked; those that differ only in how they retrieve share one open index and its models."""

from __future__ import annotations

import json
from types import TracebackType

from arena.config import RunConfig
from arena.plan import PlannedCell, RunPlan
from experiments.run.identity import identity
from experiments.run.lineup import seats
from experiments.run.prepare import Prepared, prepare
from experiments.terminal.progress import Reporter


class _Lent(Prepared):
    """A prepared point whose index stays open for the next one."""

    __slots__ = ()

    def close(self) -> None:
        """Whoever lent it closes it."""


class PointPreparer:
    """Prepares points one after the other, and keeps the last one's index open until another is needed."""

    def __init__(self, reporter: Reporter, *, dry: bool = False) -> None:
        """`dry`: see `prepare`."""
        self._reporter = reporter
        self._dry = dry
        self._last: Prepared | None = None

    def prepare(self, config: RunConfig) -> Prepared:
        """As `experiments.run.prepare.prepare`, and raises as it does. Closing what it gives does nothing."""
        if self._last is None or _but_retrieval(config) != _but_retrieval(self._last.config):
            self.close()
            self._last = prepare(config, self._reporter, dry=self._dry)
        found = self._last
        seated = seats(config, found.lineup, found.equipment)
        model = found.identity["model_sha256"]
        plan = RunPlan(
            tuple(
                PlannedCell(seat.cell, tuple(one.question_id for one in seat.questions), seat.spec.tier)
                for seat in seated
            )
        )
        fields = identity(config, found.lineup.dataset, seated, found.equipment, model)
        return _Lent(config, found.lineup, seated, found.equipment, fields, plan)

    def close(self) -> None:
        """Close the index that is open, if one is."""
        if self._last is not None:
            self._last.close()
        self._last = None

    def __enter__(self) -> PointPreparer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _but_retrieval(config: RunConfig) -> str:
    """All settings but those by which an index is asked, and where the run goes."""
    return json.dumps(config.model_dump(mode="json", exclude={"retrieval", "runs_dir", "run_id"}), sort_keys=True)
