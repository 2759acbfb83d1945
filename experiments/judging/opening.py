"""A judge's model, opened with what a run may spend on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from arena.config import JudgeConfig, LLMSettings, RunConfig
from arena.llm import LLMClient, model_identity, open_model
from arena.llm.limits import Budget
from arena.types import NO_RETRIEVAL_MODE, Cell, Purpose
from experiments.costs.spending import check_budget, price_table, reply_cache
from experiments.process.clock import now
from experiments.setup.equipment import fetch_weights
from experiments.terminal.progress import Reporter

_REPLYING = ("base_url", "temperature", "top_p", "max_tokens", "seed")
"""Settings of a model, beside its name, that can change a reply."""


@asynccontextmanager
async def open_judge(
    config: RunConfig,
    reporter: Reporter,
    *,
    budget: Budget | None = None,
    purpose: Purpose = "judge",
    content_sha256: str | None = None,
) -> AsyncIterator[LLMClient]:
    """The model of `config.judge`, behind the gate and with the reply cache.

    `content_sha256` is as for `open_model`, and its errors are this one's.
    """
    assert config.judge is not None, "a config without a judge opens none"
    settings = config.judge.llm
    with reply_cache(settings) as cache:
        opened = open_model(
            settings,
            weights=lambda name: fetch_weights(name, reporter),
            cache=cache,
            budget=budget,
            purpose=purpose,
            content_sha256=content_sha256,
        )
        async with opened as model:
            yield model


def check_judge_price(config: RunConfig) -> None:
    """Refuse a bound on money that what the judge takes cannot be counted towards.

    Raises:
        ConfigError: there is such a bound and the judge has no price.
    """
    assert config.judge is not None, "a config without a judge asks none"
    check_budget(config.model_copy(update={"llm": config.judge.llm}), price_table(config, now()))


def judge_cell(judge: LLMSettings) -> Cell:
    """What a judge's calls are priced by."""
    return Cell("judge", NO_RETRIEVAL_MODE, model_identity(judge), {"base_url": judge.base_url})


def identity_of(config: JudgeConfig, content_sha256: str | None) -> dict[str, Any]:
    """All about a judge's model that can change a verdict."""
    settings = config.llm
    named = {"model": model_identity(settings), "content_sha256": content_sha256}
    return named | {name: getattr(settings, name) for name in _REPLYING}
