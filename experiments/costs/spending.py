"""What the model calls of a run are held to: prices, a budget, and the cache of replies that were paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import partial
from itertools import chain
from typing import Any

from arena.config import LLMSettings, RunConfig, cache_dir
from arena.errors import ConfigError
from arena.llm import keeps_replies, model_identity
from arena.llm.budget import Budget
from arena.llm.cache import ReplyCache
from arena.prices import PriceTable
from arena.store import MANIFEST, RunStore
from arena.types import LLMCall
from experiments.process.clock import now

SPENT = "spent"
"""Key of the manifest: what a stopped run knew to have been spent, given up questions included."""

GIVEN_UP = "given_up"
"""Key of the manifest: what was spent on questions that were given up and so have no record."""

_NOTHING: Mapping[str, Any] = {"usd": 0.0, "tokens": 0}


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


def open_budget(config: RunConfig, store: RunStore, asked: LLMSettings | None = None) -> Budget:
    """The budget of a run, less what its journals and its manifest say is spent already, judges included.

    The journals are read only where there is a bound to keep, since that takes seconds in a large run. Without one the
    budget begins with what the manifest says. `asked`: the model whose calls it will be charged with (None: the
    contestants').
    """
    manifest = store.manifest() if (store.folder / MANIFEST).exists() else {}
    prices = price_table(config, manifest.get("started", now()))
    bounds = config.budget

    def opened(model: LLMSettings, usd: float, tokens: int) -> Budget:
        price = partial(prices.usd, base_url=model.base_url)
        return Budget(bounds.max_usd, bounds.max_tokens, price, spent_usd=usd, spent_tokens=tokens)

    lost, noted = manifest.get(GIVEN_UP, _NOTHING), manifest.get(SPENT, _NOTHING)
    usd, tokens = lost["usd"], lost["tokens"]
    if manifest and (bounds.max_usd is not None or bounds.max_tokens is not None):
        for model, calls in _paid_calls(config, store):
            entered = opened(model, usd, tokens)
            for call in calls:
                entered.charge(call)
            usd, tokens = entered.spent_usd, entered.spent_tokens
    return opened(asked or config.llm, max(usd, noted["usd"]), max(tokens, noted["tokens"]))


def _paid_calls(config: RunConfig, store: RunStore) -> Iterator[tuple[LLMSettings, Iterator[LLMCall]]]:
    """All that the journals of a run have, by the model that it is priced by."""
    records = chain(store.records(), store.superseded(), store.probe_records())
    yield config.llm, (call for record in records for call in record.calls)
    if config.judge is not None:
        yield config.judge.llm, (call for verdict in store.every_verdict() for call in verdict.calls)


def spent_note(budget: Budget) -> dict[str, Any]:
    """What a manifest keeps of a budget, for `open_budget` to find."""
    return {SPENT: {"usd": budget.spent_usd, "tokens": budget.spent_tokens}}


def given_up_note(manifest: Mapping[str, Any], usd: float, tokens: int) -> dict[str, Any]:
    """What a manifest keeps of what was spent on questions that have no record, added to what it has."""
    before = manifest.get(GIVEN_UP, _NOTHING)
    return {GIVEN_UP: {"usd": before["usd"] + usd, "tokens": before["tokens"] + tokens}}


@contextmanager
def reply_cache(settings: LLMSettings) -> Iterator[ReplyCache | None]:
    """The cache of paid replies, which all runs share; None where it is not wanted."""
    if not keeps_replies(settings):
        yield None
        return
    with ReplyCache(cache_dir() / "replies.sqlite") as cache:
        yield cache
