"""What a run says of its own settings: its leaderboard, and where that does not suffice its plan and its data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from arena.datasets import load_dataset
from arena.errors import DatasetError, RunStoreError
from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.leaderboard.schema import MetricSummary
from arena.store import RunStore
from experiments.papers.drawn import draw
from experiments.papers.settings.shape import Measure
from experiments.run.start import read_leaderboard

_QUANTISED = re.compile(
    r"[-_.](?:awq|gptq|gguf|fp8|fp16|bf16|int[48]|[48]bit|w\d+a\d+|i?q\d(?:[-_]\w+)*|bnb(?:[-_]\w+)*)$"
)


@dataclass(frozen=True)
class OurRun:
    """A run that has a leaderboard."""

    store: RunStore
    board: Leaderboard

    @classmethod
    def read(cls, store: RunStore) -> OurRun:
        """Raises `RunStoreError` where there is no leaderboard, or a damaged one."""
        return cls(store, read_leaderboard(store))

    @cached_property
    def drawn(self) -> frozenset[str] | None:
        """The test questions of IRCoT, drawn from this run's data; None where these cannot be had as they were."""
        asked = self.board.dataset
        try:
            found = load_dataset(self.store.data_at or asked.name)
            same = found.fingerprint == asked.fingerprint
            return frozenset(draw([one.question_id for one in found.questions])) if same else None
        except DatasetError:
            return None

    @cached_property
    def asked(self) -> dict[str, frozenset[str]]:
        """Cell key -> the ids of its questions; empty where the run has no plan."""
        try:
            cells = self.store.plan().cells
        except RunStoreError:
            return {}
        return {planned.cell.key: frozenset(planned.question_ids) for planned in cells}

    def judges_of(self, metric: str) -> tuple[str, ...]:
        """Who judged by `metric`."""
        return tuple(card.judge for card in self.board.judges if card.metric == metric)


def summary_of(cell: CellSummary, measure: Measure) -> MetricSummary | None:
    """The cell's own figure by `measure`; None where it has none."""
    if measure.ours == "retrievals_per_question":
        mean = cell.retrievals_per_question
        return MetricSummary(mean=mean, ci_low=None, ci_high=None, n=cell.n_questions, coverage=1.0)
    over = cell.metrics if measure.kind is None else cell.breakdown.get("kind", {}).get(measure.kind, {})
    summary = over.get(measure.ours)
    return summary if summary is not None and summary.coverage is not None else None


def retrieves(cell: CellSummary) -> bool:
    """Whether any question of the cell was looked up."""
    return cell.retrieval_mode != "none" and cell.retrievals_per_question > 0


def bare_name(model: str) -> tuple[str, bool]:
    """A model's name without provider, owner, commit and file ending, in lower case; whether quantisation was cut off.

    A model of the hub is identified as ORG/NAME@COMMIT; which commit it is does not change whose model it is.
    """
    name = re.split(r"[/\\]", model.partition(":")[2] or model)[-1].partition("@")[0].lower().removesuffix(".gguf")
    bare = _QUANTISED.sub("", name)
    return bare, bare != name or model.lower().endswith(".gguf")
