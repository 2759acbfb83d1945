"""What the model calls of a run are held to: prices, a budget, and the cache of replies that were paid for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

from arena.accounting import keep_books
from arena.config import LLMSettings, RunConfig, cache_dir
from arena.errors import ConfigError
from arena.llm import keeps_replies, model_identity
from arena.llm.budget import Budget
from arena.llm.cache import ReplyCache
from arena.prices import PriceTable
from arena.store import RunStore
from experiments.clock import now

SPENT = "spent"
"""Key of the manifest under which a stopped run keeps what it has spent, given up questions included."""


def price_table(config: RunConfig, started: str) -> PriceTable:
    """The prices of a run that was `started` then (ISO 8601)."""
    return PriceTable(config.prices, date.fromisoformat(started[:10]))


def check_budget(config: RunConfig, prices: PriceTable) -> None:
    """Refuse a bound on money where no money can be counted.

    Raises:
        ConfigError: `budget.max_usd` is set and the model has no price.
    """
    model = model_identity(config.llm)
    if config.budget.max_usd is not None and prices.price(model, config.llm.base_url) is None:
        where = f" at {config.llm.base_url}" if config.llm.base_url else ""
        raise ConfigError(
            f"budget.max_usd {config.budget.max_usd:g} cannot be kept: no price is known for model {model!r}{where}. "
            f"Give one, as in prices: {{'{model}': {{input_usd_per_million: 0.5, output_usd_per_million: 1.5}}}} or "
            f"{{gpu_usd_per_hour: 2}}, or bound tokens with budget.max_tokens"
        )


def open_budget(config: RunConfig, store: RunStore) -> Budget:
    """The budget of a run, less what its journal, or its manifest when it was stopped, says is spent already."""
    manifest = store.manifest() if store.records_path.exists() else {}
    prices = price_table(config, manifest.get("started", now()))
    paid = keep_books(store.records(), prices).whole.paid
    noted = manifest.get(SPENT, {})
    return Budget(
        config.budget.max_usd,
        config.budget.max_tokens,
        lambda call: prices.usd(call, config.llm.base_url),
        spent_usd=max(paid.usd.known, noted.get("usd", 0.0)),
        spent_tokens=int(max(paid.input_tokens.known + paid.output_tokens.known, noted.get("tokens", 0))),
    )


def spent_note(budget: Budget) -> dict[str, Any]:
    """What a manifest keeps of a budget, for `open_budget` to find."""
    return {SPENT: {"usd": budget.spent_usd, "tokens": budget.spent_tokens}}


@contextmanager
def reply_cache(settings: LLMSettings) -> Iterator[ReplyCache | None]:
    """The cache of paid replies, which all runs share; None where it is not wanted."""
    if not keeps_replies(settings):
        yield None
        return
    with ReplyCache(cache_dir() / "replies.sqlite") as cache:
        yield cache
