"""A config made ready to ask the first question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.config import RunConfig
from arena.llm import model_sha256
from experiments.clock import now
from experiments.compose import Lineup, Seat, line_up, seats
from experiments.equipment import Equipment, fetch_weights, ready_equipment
from experiments.manifest import identity
from experiments.progress import Reporter
from experiments.spending import check_budget, price_table


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config with everything that a run needs but the model."""

    config: RunConfig
    lineup: Lineup
    seats: tuple[Seat, ...]
    equipment: Equipment | None
    identity: Mapping[str, Any]

    def close(self) -> None:
        """Give the indexes back; local mode lets nobody else open it before."""
        if self.equipment is not None:
            self.equipment.close()


def prepare(config: RunConfig, reporter: Reporter, *, without_model: bool = False) -> Prepared:
    """Check every name, load the data, fetch weights, open or build the index. Asks no model anything.

    `without_model`: the configured model will not be opened, so that its weights and a price for it are not needed.
    """
    lineup = line_up(config)
    for name in lineup.skipped:
        reporter.warn(f"{name} is left out: no question of the sample has gold documents")
    content_sha256 = None
    if lineup.needs_model and not without_model:
        check_budget(config, price_table(config, now()))
        content_sha256 = model_sha256(config.llm, lambda name: fetch_weights(name, reporter))
    equipment = None
    if lineup.needs_index:
        equipment = ready_equipment(
            config, lineup.dataset, reporter, rerank=lineup.needs_reranker, variants=lineup.variants
        )
    seated = seats(config, lineup, equipment)
    fields = identity(config, lineup.dataset, seated, equipment, content_sha256)
    return Prepared(config, lineup, seated, equipment, fields)
