"""What a run used and cost, by cell and role: read from its folder, without any model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.accounting import Account, RunAccounts, Spend, Total, account_of, account_run, add_up
from arena.config import RunConfig, load_config, validate_config
from arena.leaderboard.cells import price_source
from arena.llm.limits import Spent
from arena.prices import PriceTable
from arena.report.figures import UNDEFINED, usd_text
from arena.report.names import names_of
from arena.store import RunStore
from arena.types import ALL_CALLS, NO_RETRIEVAL_MODE, UNSTATED, Cell, LLMCall, Purpose
from experiments.execution.budget import add_spent, paid_for, price_table

_PAID_FOR: Mapping[Purpose, str] = {
    "before": "paid before there was a ledger",
    "question": "paid for questions",
    "health": "paid for the judge's check",
    "judge": "paid for verdicts",
    "probe": "paid for the latency probe",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """What was paid for beside the answers: a judge by one metric, answers asked again, or the latency probe."""

    name: str
    models: frozenset[str]
    account: Account


@dataclass(frozen=True, slots=True)
class RunCost:
    """The books of a run, what was paid for beside its answers, and the prices they were kept with.

    `paid`: purpose -> what the run paid for it, by its ledger of payments; None: it has none, being of an earlier
    version. It has no replays, and it has what no journal has: questions that were given up, calls before a kill whose
    replies were then replayed, a judge's check.
    """

    run_id: str
    books: RunAccounts
    prices: PriceTable
    beside: tuple[Beside, ...] = ()
    paid: Mapping[Purpose, Spent] | None = None

    @property
    def whole(self) -> Account:
        """All calls of the run."""
        return add_up((self.books.whole, *(one.account for one in self.beside)))


def cost_of(run_folder: Path, prices_from: Path | None) -> RunCost:
    """The cost of a run, finished or not, at the prices of the day it was started.

    `prices_from`: a config file whose `prices` go over those of the run's own config.

    Raises:
        RunStoreError: there is no readable run in `run_folder`.
        ConfigError: `prices_from` is no config.
    """
    store = RunStore.open(run_folder)
    manifest = store.manifest()
    prices: dict[str, Any] = manifest["config"].get("prices", {})
    if prices_from is not None:
        prices = prices | load_config(prices_from, {}).model_dump(mode="json")["prices"]
    judge = manifest["config"].get("judge")
    settings = {"prices": prices} | ({"judge": judge} if judge else {})
    config = validate_config(settings, f"run {store.run_id!r}")
    table = price_table(config, manifest["started"])
    beside = tuple(_beside(store, config, table))
    return RunCost(store.run_id, account_run(store.records(), table), table, beside, paid_for(store, table))


def cost_fields(cost: RunCost) -> dict[str, Any]:
    """As plain JSON values. Sums that are unknown are None, beside the sum of what is known."""
    books = cost.books
    roles = dict.fromkeys(role for _, role in books.by_role)
    strategies = dict.fromkeys(cell.strategy for cell in books.cells.values())
    return {
        "run_id": cost.run_id,
        "prices": price_source(cost.prices).model_dump(mode="json"),
        "cells": [_cell_fields(books, key) for key in books.cells],
        "strategies": {name: account_fields(books.of_strategy(name)) for name in strategies},
        "roles": {role: account_fields(books.of_role(role)) for role in roles},
        "beside": {one.name: account_fields(one.account) for one in cost.beside},
        "total": account_fields(cost.whole),
        "paid": None if cost.paid is None else _paid_fields(cost.paid),
    }


def _paid_fields(paid: Mapping[Purpose, Spent]) -> dict[str, Any]:
    whole = asdict(add_spent(paid.values()))
    return whole | {"purposes": {purpose: asdict(spent) for purpose, spent in paid.items()}}


def account_fields(account: Account) -> dict[str, Any]:
    """An account as plain JSON values; `replayed` calls are among the others."""
    return {
        **_spend_fields(account.whole),
        "repairs": account.repairs,
        "failed_calls": account.failed_calls,
        "unknown_calls": account.unknown_calls,
        "unpriced_calls": account.unpriced_calls,
        "queue_seconds": account.queue_seconds,
        "backoff_seconds": account.backoff_seconds,
        "service_seconds": account.service_seconds,
        "replayed": _spend_fields(account.replayed),
    }


def cost_table(cost: RunCost) -> Table:
    """A line per role of each cell, and the total."""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=Text(f"run {cost.run_id}"), title_justify="left"
    )
    books = cost.books
    headings, names = names_of(list(books.cells.values()))
    for heading in (*headings, "role"):
        table.add_column(heading)
    for heading in ("calls", "attempts", "replayed", "input", "output", "USD"):
        table.add_column(heading, justify="right")
    for key, named in zip(books.cells, names, strict=True):
        for role, account in books.roles_of(key).items() or {UNDEFINED: Account()}.items():
            table.add_row(*map(Text, (*named, role, *_figures(account, counted=role != ALL_CALLS))))
    for part in ({one.name: one.account for one in cost.beside}, {"all": cost.whole}):
        table.add_section()
        for name, account in part.items():
            table.add_row(Text(name), *[""] * len(headings), *_figures(account))
    if cost.paid:
        table.add_section()
        for purpose, spent in cost.paid.items():
            table.add_row(Text(_PAID_FOR[purpose]), *[""] * (len(headings) + 1), *_paid_figures(spent))
        table.add_row(Text("paid in all"), *[""] * (len(headings) + 1), *_paid_figures(add_spent(cost.paid.values())))
    return table


def cost_notes(cost: RunCost) -> Iterator[str]:
    """What the marks of the table mean, and whose price is missing."""
    account = cost.whole
    yield f"Prices: {cost.prices.source}, of {cost.prices.as_of.isoformat()}, and {len(cost.prices.own)} of your own."
    if account.unknown_calls:
        yield "\N{GREATER-THAN OR EQUAL TO} = at least: the provider did not report all tokens of some calls."
    if account.unpriced_calls:
        asked = {cell.llm for key, cell in cost.books.cells.items() if cost.books.of_cell(key).unpriced_calls}
        beside = {model for one in cost.beside if one.account.unpriced_calls for model in one.models}
        models = sorted(repr(model) for model in asked | beside if model not in (None, UNSTATED))
    if account.unpriced_calls and models:
        yield f"No price is known for some calls of {', '.join(models)}: give one under `prices` in a --config."
    if account.replayed.calls:
        yield "Replayed calls were paid for before; tokens and USD count them."
    if cost.paid:
        spent = add_spent(cost.paid.values())
        text = (
            f"Paid in all, by paid.jsonl: {spent.tokens:,} tokens in {spent.attempts:,} attempts, without any replay; "
            "what no record has (given up, or asked before a kill) is in it."
        )
        if spent.unknown:
            text += (
                f" Of {spent.unknown:,} attempts the provider did not report all; by estimate they took "
                f"{spent.reserved_tokens:,} tokens more, which count towards a budget and are in no sum here."
            )
        yield text


def _beside(store: RunStore, config: RunConfig, prices: PriceTable) -> Iterator[Beside]:
    calls: dict[str, list[Account]] = {}
    models: dict[str, set[str]] = {}
    for name, cell, made in chain(_judging(store, config), _again(store)):
        calls.setdefault(name, []).append(account_of(made, cell, prices))
        models.setdefault(name, set()).update({cell.llm} if cell.llm else ())
    for name, accounts in calls.items():
        yield Beside(name, frozenset(models[name]), add_up(accounts))


def _judging(store: RunStore, config: RunConfig) -> Iterator[tuple[str, Cell, Sequence[LLMCall]]]:
    base_url = config.judge.llm.base_url if config.judge else None
    for verdict in store.verdicts():
        judge = Cell("judge", NO_RETRIEVAL_MODE, verdict.judge, {"base_url": base_url})
        yield f"judge {verdict.judge}, {verdict.metric}", judge, verdict.calls


def _again(store: RunStore) -> Iterator[tuple[str, Cell, Sequence[LLMCall]]]:
    for name, records in (("asked again", store.superseded()), ("latency probe", store.probe_records())):
        for record in records:
            yield name, record.cell, record.calls


def _cell_fields(books: RunAccounts, key: str) -> dict[str, Any]:
    cell, account, asked = books.cells[key], books.of_cell(key), books.n_questions[key]
    usd = account.whole.usd.value
    return {
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "cell": key,
        "params": dict(cell.params),
        "n_questions": asked,
        "usd_per_question": None if usd is None else usd / asked,
        **account_fields(account),
        "roles": {role: account_fields(one) for role, one in books.roles_of(key).items()},
    }


def _spend_fields(spend: Spend) -> dict[str, Any]:
    totals = {"input_tokens": spend.input_tokens, "output_tokens": spend.output_tokens, "usd": spend.usd}
    return {
        "calls": spend.calls,
        "attempts": spend.attempts,
        **{name: total.value for name, total in totals.items()},
        **{f"{name}_at_least": total.known for name, total in totals.items()},
        "cached_input_tokens": spend.cached_input_tokens,
        "reasoning_tokens": spend.reasoning_tokens,
    }


def _figures(account: Account, *, counted: bool = True) -> tuple[str, ...]:
    """`counted` False: nobody says how many calls there were."""
    whole = account.whole
    money = UNDEFINED if whole.usd.n_unknown and not whole.usd.known else usd_text(whole.usd.known)
    return (
        f"{whole.calls:,}" if counted else "unknown",
        f"{whole.attempts:,}",
        f"{account.replayed.calls:,}",
        _at_least(whole.input_tokens, f"{whole.input_tokens.known:,.0f}"),
        _at_least(whole.output_tokens, f"{whole.output_tokens.known:,.0f}"),
        money if money == UNDEFINED else _at_least(whole.usd, money),
    )


def _paid_figures(spent: Spent) -> tuple[str, ...]:
    mark = "\N{GREATER-THAN OR EQUAL TO}" if spent.unknown else ""
    return f"{spent.attempts:,}", "", f"{mark}{spent.tokens:,}", "", mark + usd_text(spent.usd)


def _at_least(total: Total, text: str) -> str:
    return f"\N{GREATER-THAN OR EQUAL TO}{text}" if total.n_unknown else text
