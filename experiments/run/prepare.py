"""A config made ready to ask the first question.

The contestants of a run, ready to be asked: seats, index and the one model that all of them share.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import Any

from arena.config import RunConfig
from arena.errors import ConfigError
from arena.llm import model_sha256, open_model
from arena.llm.limits import Budget
from arena.plan import Key, PlannedCell, RunPlan, Shard
from arena.runner import Contestant
from arena.types import Purpose
from experiments.run.budget import check_budget, price_table, reply_cache
from experiments.run.equipment import Equipment, fetch_weights, planned_equipment, ready_equipment
from experiments.run.identity import identity
from experiments.run.lineup import Lineup, Seat, contestants, line_up, seats
from experiments.run.process import now, unknown_groups
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


@asynccontextmanager
async def open_entrants(
    prepared: Prepared,
    budget: Budget | None,
    reporter: Reporter,
    *,
    purpose: Purpose = "question",
    cached: bool = True,
) -> AsyncIterator[tuple[Contestant, ...]]:
    """Open the model, if any of them asks one; with `cached` off, every call is made and paid.

    Raises as `open_model`.
    """
    retriever = prepared.equipment.retriever if prepared.equipment else None
    if not prepared.lineup.needs_model:
        yield contestants(prepared.seats, prepared.lineup.dataset, retriever, None)
        return
    settings = prepared.config.llm if cached else prepared.config.llm.model_copy(update={"cache": False})
    with reply_cache(settings) as cache:
        async with open_model(
            settings,
            weights=lambda name: fetch_weights(name, reporter),
            cache=cache,
            budget=budget,
            purpose=purpose,
            content_sha256=prepared.identity["model_sha256"],
        ) as model:
            yield contestants(prepared.seats, prepared.lineup.dataset, retriever, model)
