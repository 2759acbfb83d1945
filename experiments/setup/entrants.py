"""The contestants of a run, ready to be asked: seats, index and the one model that all of them share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arena.llm import open_model
from arena.llm.limits import Budget
from arena.runner import Contestant
from arena.types import Purpose
from experiments.costs.spending import reply_cache
from experiments.setup.compose import contestants
from experiments.setup.equipment import fetch_weights
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter


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
