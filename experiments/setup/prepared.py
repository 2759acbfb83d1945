"""A config made ready to ask the first question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import Any

from arena.config import RunConfig
from arena.errors import ConfigError
from arena.llm import model_sha256
from arena.plan import Key, PlannedCell, RunPlan, Shard
from experiments.costs.spending import check_budget, price_table
from experiments.doctor import unknown_groups
from experiments.process.clock import now
from experiments.setup.compose import Lineup, Seat, line_up, seats
from experiments.setup.equipment import Equipment, fetch_weights, planned_equipment, ready_equipment
from experiments.setup.identity import identity
from experiments.terminal.progress import Reporter


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config with everything that a run needs but the model.

    `seats` are those this process asks, with its share of their questions; `plan` is that of the whole run.
    `again`: keys that are to be asked although they have a record.
    """

    config: RunConfig
    lineup: Lineup
    seats: tuple[Seat, ...]
    equipment: Equipment | None
    identity: Mapping[str, Any]
    plan: RunPlan
    again: frozenset[Key] = field(default_factory=frozenset)

    def close(self) -> None:
        """Give the indexes back; local mode lets nobody else open it before."""
        if self.equipment is not None:
            self.equipment.close()


def prepare(config: RunConfig, reporter: Reporter, *, dry: bool = False, shard: Shard | None = None) -> Prepared:
    """Check every name, load the data, fetch weights, open or build the index. Asks no model anything.

    Args:
        config: what to make ready.
        reporter: who hears of downloads and of the index.
        dry: nothing will be asked of the configured model, whose weights and price are not needed; nothing is embedded
            and no index is opened or built (`planned_equipment`).
        shard: the share of the questions that this process asks (None: all).
    """
    for text in unknown_groups(entry_points().groups):
        reporter.warn(text)
    lineup = line_up(config)
    for name in lineup.skipped:
        reporter.warn(f"{name} is left out: no question of the sample has gold documents")
    content_sha256 = None
    if lineup.needs_model and not dry:
        check_budget(config, price_table(config, now()))
        content_sha256 = model_sha256(config.llm, lambda name: fetch_weights(name, reporter))
    equipment = None
    if lineup.needs_index:
        equip = planned_equipment if dry else ready_equipment
        equipment = equip(config, lineup.dataset, reporter, rerank=lineup.needs_reranker, variants=lineup.variants)
    seated = seats(config, lineup, equipment)
    asked = _share(seated, shard)
    fields = identity(config, lineup.dataset, seated, equipment, content_sha256)
    plan = RunPlan(
        tuple(
            PlannedCell(seat.cell, tuple(one.question_id for one in seat.questions), seat.spec.tier) for seat in seated
        ),
        shard,
    )
    return Prepared(config, lineup, asked, equipment, fields, plan)


def _share(seated: Iterable[Seat], shard: Shard | None) -> tuple[Seat, ...]:
    """The seats with the questions of a shard; those without any are left out."""
    if shard is None:
        return tuple(seated)
    shared = (
        replace(seat, questions=tuple(one for one in seat.questions if shard.holds(one.question_id))) for seat in seated
    )
    asked = tuple(seat for seat in shared if seat.questions)
    if not asked:
        raise ConfigError(f"shard {shard} holds none of the questions: there are few of them, use fewer shards")
    return asked
