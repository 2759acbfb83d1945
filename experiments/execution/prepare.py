"""Make a config ready to ask the first question: contestants, index, identity and plan, then the one model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import Any

from arena.config import RunConfig
from arena.errors import ConfigError
from arena.llm.limits import Budget
from arena.llm.opening import model_sha256
from arena.plan import Key, PlannedCell, RunPlan, Shard
from arena.runner import Contestant
from arena.types import Purpose
from experiments.execution.budget import check_budget, price_table
from experiments.execution.contestants import Entries, contestants, read_entries, with_model
from experiments.execution.equipment import Equipment, check_model, language_model, open_equipment, paid_model
from experiments.execution.identity import identity, is_unversioned
from experiments.execution.process import now, unknown_groups
from experiments.execution.systems import open_systems
from experiments.terminal.progress import Reporter


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config with everything that a run needs but the model.

    `contestants` are those this process asks, with its share of their questions; `plan` is that of the whole run.
    `again`: keys that are to be asked although they have a record.
    """

    config: RunConfig
    entries: Entries
    contestants: tuple[Contestant, ...]
    equipment: Equipment | None
    identity: Mapping[str, Any]
    plan: RunPlan
    again: frozenset[Key] = field(default_factory=frozenset)

    def open_models(self) -> None:
        """Open the models that were not opened yet: no question is to wait for one."""
        if self.equipment is not None and self.equipment.late is not None:
            self.equipment.late.open()

    def close(self) -> None:
        """Give the indexes back; local mode lets nobody else open it before."""
        if self.equipment is not None:
            self.equipment.close()


def prepare(config: RunConfig, reporter: Reporter, *, dry: bool = False, shard: Shard | None = None) -> Prepared:
    """Check every name, load the data, fetch weights, open or build the index. Asks no model anything.

    `dry`: nothing will be asked of the configured model, whose weights and price are not needed; nothing is embedded
    and no index is opened or built (`open_equipment`). `shard`: the share of the questions that this process asks
    (None: all).
    """
    for text in unknown_groups(entry_points().groups):
        reporter.warn(text)
    entries = read_entries(config)
    for name in entries.skipped:
        reporter.warn(f"{name} is left out: no question of the sample has gold documents")
    content_sha256 = None
    if dry:
        if entries.needs_model:
            check_model(config.llm)
        if config.judge is not None:
            check_model(config.judge.llm)
    if entries.needs_model and not dry:
        check_budget(config, price_table(config, now()))
        content_sha256 = model_sha256(config.llm, lambda name: language_model(name, reporter))
    equipment = None
    if entries.needs_index:
        equipment = open_equipment(
            config,
            entries.dataset,
            reporter,
            rerank=entries.needs_reranker,
            variants=entries.variants,
            queries=() if dry else entries.index_queries,
            dry=dry,
        )
    competing = contestants(config, entries, equipment)
    asked = _share(competing, shard)
    fields = identity(config, entries, equipment, content_sha256)
    for name, known in fields["contestants"].items():
        if is_unversioned(known):
            reporter.warn(
                f"nothing tells whether system {name!r} is still what it was when a run goes on: give it a version "
                f"(--set systems.{name}.version=1), and another one whenever it changes"
            )
    plan = RunPlan(planned_cells(entries, competing), shard)
    return Prepared(config, entries, asked, equipment, fields, plan)


def planned_cells(entries: Entries, competing: Iterable[Contestant]) -> tuple[PlannedCell, ...]:
    """The cells of a plan."""
    return tuple(
        PlannedCell(one.cell, tuple(asked.question_id for asked in one.questions), entries.tiers.get(one.cell.strategy))
        for one in competing
    )


def _share(competing: Sequence[Contestant], shard: Shard | None) -> tuple[Contestant, ...]:
    """The contestants with the questions of a shard; those without any are left out."""
    if shard is None:
        return tuple(competing)
    shared = (
        replace(one, questions=tuple(asked for asked in one.questions if shard.holds(asked.question_id)))
        for one in competing
    )
    asked = tuple(one for one in shared if one.questions)
    if not asked:
        raise ConfigError(f"shard {shard} holds none of the questions: there are few of them, use fewer shards")
    return asked


@asynccontextmanager
async def open_contestants(
    prepared: Prepared,
    budget: Budget | None,
    reporter: Reporter,
    *,
    purpose: Purpose = "question",
    cached: bool = True,
) -> AsyncIterator[tuple[Contestant, ...]]:
    """Open the systems, and the model, if any of them asks one; with `cached` off, every call is made and paid.

    Raises as `open_model` and `open_systems`.
    """
    async with open_systems(prepared.contestants) as competing:
        if not prepared.entries.needs_model:
            yield competing
            return
        settings = prepared.config.llm if cached else prepared.config.llm.model_copy(update={"cache": False})
        content_sha256 = prepared.identity["model_sha256"]
        opened = paid_model(settings, reporter, budget=budget, purpose=purpose, content_sha256=content_sha256)
        async with opened as model:
            yield with_model(competing, model)
