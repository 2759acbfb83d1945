"""What the model calls of a run are held to: prices, a budget, and the cache of replies that were paid for.

Before anything is paid, it is said how many questions a comparison needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, astuple
from datetime import date
from functools import partial
from itertools import chain
from math import ceil
from typing import Any

from arena.config import LLMSettings, RunConfig, cache_dir, validate_config
from arena.errors import ConfigError, RunStoreError
from arena.llm.cache import ReplyCache
from arena.llm.limits import Budget, Price, Spent
from arena.llm.metering import GIVEN_UP as GIVEN_UP_REQUEST
from arena.llm.providers import keeps_replies, model_identity
from arena.prices import PriceTable
from arena.statistics.significance import ASSUMED_DISCORDANCE, detectable_difference, discordance_sd
from arena.store import MANIFEST, RunStore
from arena.store.journal import PAID_LINES, encode
from arena.store.paid import PaidLedger
from arena.store.runs import is_imported
from arena.types import OWN_MODE, CallAttempt, LLMCall, PaidAttempt, Purpose, RunRecord
from experiments.execution.process import now

SPENT = "spent"
"""Key of the manifest: what the run has paid in all, as its ledger of payments (paid.jsonl) adds up."""

GIVEN_UP = "given_up"
"""Key of manifests of earlier versions: what was spent on questions that were given up and so have no record."""

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


def open_budget(config: RunConfig, store: RunStore) -> Budget:
    """The budget of a run, less what its ledger of payments says is spent: on contestants, judges, probe and checks.

    A run of an earlier version has no such ledger: what its journals and its manifest say is what it had spent before
    it got one.
    """
    manifest = store.manifest() if (store.folder / MANIFEST).exists() else {}
    price = partial(_usd_of, price_table(config, manifest.get("started", now())))
    bounds = config.budget
    if not store.keeps_payments():
        before = _spent_before(config, store, manifest, price) if manifest else None
        return Budget(bounds.max_usd, bounds.max_tokens, price, before=before)
    budget = Budget(bounds.max_usd, bounds.max_tokens, price)
    for paid in store.paid():
        budget.count(paid)
    return budget


@contextmanager
def paying(
    budget: Budget, store: RunStore, note: Callable[[PaidAttempt], None] = lambda _: None
) -> Iterator[PaidLedger]:
    """Hold the folder, and enter all that `budget` is told of in the run's ledger; in the end the manifest has the sum.

    `note` hears of every attempt as well.

    Raises:
        RunStoreError: the ledger cannot be written.
    """
    with store.paying(budget.before) as ledger:

        def enter(paid: PaidAttempt) -> None:
            note(paid)
            ledger.enter(paid)

        try:
            with budget.written_ahead(enter):
                yield ledger
        finally:
            with suppress(RunStoreError):  # the folder may be what went wrong
                store.write_manifest(store.manifest() | spent_note(budget))


def _usd_of(prices: PriceTable, paid: PaidAttempt) -> float | None:
    """What an attempt cost; None = unknown."""
    if paid.purpose == "before":
        return paid.usd
    price = prices.price(paid.model, paid.base_url)
    return None if price is None else price.usd(paid.attempt, replayed=False)


def _spent_before(config: RunConfig, store: RunStore, manifest: Mapping[str, Any], price: Price) -> PaidAttempt:
    """What a run without a ledger had spent: all that its journals have, and what its manifest has beside."""
    journals, lost, noted = Spent(), manifest.get(GIVEN_UP, _NOTHING), manifest.get(SPENT, _NOTHING)
    for paid in attempts_of(store, config):
        journals = journals.and_one(paid, price)
    usd, tokens = max(journals.usd + lost["usd"], noted["usd"]), max(journals.tokens + lost["tokens"], noted["tokens"])
    whose = f"{manifest['started']} {manifest.get('shard')}"  # shards on several machines may have one name
    return PaidAttempt("before", "", "", "", 0, CallAttempt(tokens, 0), usd=usd, run=store.run_id, entry=whose)


def attempts_of(store: RunStore, config: RunConfig) -> Iterator[PaidAttempt]:
    """All that the journals of a run have of attempts that it paid for: not of replayed calls or foreign systems.

    Nor of requests that were given up: of these the journals do not know whether they were sent.
    """
    questions = () if is_imported(store.manifest()) else chain(store.records(), store.superseded())
    asked: list[tuple[Purpose, str | None, Iterable[LLMCall]]] = [
        ("question", config.llm.base_url, _paid_calls(questions)),
        ("probe", config.llm.base_url, _paid_calls(store.probe_records())),
    ]
    judge = config.judge.llm.base_url if config.judge else None
    asked.append(("judge", judge, (call for verdict in store.every_verdict() for call in verdict.calls)))
    for purpose, base_url, calls in asked:
        for call in calls:
            for number, attempt in enumerate(() if call.replayed else call.attempts, start=1):
                if attempt.fault != GIVEN_UP_REQUEST:
                    yield PaidAttempt(purpose, call.model, call.role, call.prompt_sha, number, attempt, base_url)


def _paid_calls(records: Iterable[RunRecord]) -> Iterator[LLMCall]:
    """The calls that the run made itself: what a system of the user's own spends, it does not spend through the run."""
    return (call for record in records if record.cell.retrieval_mode != OWN_MODE for call in record.calls)


def paid_for(store: RunStore, prices: PriceTable) -> dict[Purpose, Spent] | None:
    """What a run paid for each purpose, by its ledger of payments; None: it has none."""
    if not store.keeps_payments():
        return None
    price = partial(_usd_of, prices)
    found: dict[Purpose, Spent] = {}
    for paid in store.paid():
        found[paid.purpose] = found.get(paid.purpose, Spent()).and_one(paid, price)
    return found


def add_spent(parts: Iterable[Spent]) -> Spent:
    """What all of them come to."""
    return Spent(*map(sum, zip(astuple(Spent()), *map(astuple, parts), strict=True)))


def paid_note(store: RunStore) -> dict[str, Any]:
    """`spent_note` of what the run's ledger of payments adds up to; nothing of a run without one."""
    return spent_note(_budget_of(store)) if store.keeps_payments() else {}


def paid_lines(store: RunStore) -> Iterator[bytes]:
    """The lines of a run's ledger of payments; of one without, the line that says what it had spent before."""
    if store.keeps_payments():
        return (line.text for line in store.paid_lines())
    before = _budget_of(store).before
    return iter([encode(before, PAID_LINES)] if before else ())


def _budget_of(store: RunStore) -> Budget:
    return open_budget(validate_config(store.manifest()["config"], f"run {store.run_id!r}"), store)


def spent_note(budget: Budget) -> dict[str, Any]:
    """What a manifest says of what a run has paid: what is known, and apart what is estimated of the unknown."""
    return {SPENT: asdict(budget.spent)}


@contextmanager
def reply_cache(settings: LLMSettings) -> Iterator[ReplyCache | None]:
    """The cache of paid replies, which all runs share; None where it is not wanted."""
    if not keeps_replies(settings):
        yield None
        return
    with ReplyCache(cache_dir() / "replies.sqlite") as cache:
        yield cache


def questions_needed(difference: float, discordance: float = ASSUMED_DISCORDANCE) -> int:
    """Questions with which a true difference in answer_em of `difference` is found, under `sample_size_note`'s terms.

    Raises:
        ValueError: `difference` is not above 0, or `discordance` is outside [0, 1].
    """
    if difference <= 0:
        raise ValueError(f"a difference to be found is above 0, not {difference!r}")
    return max(1, ceil((detectable_difference(1, discordance_sd(discordance)) / difference) ** 2))


def sample_size_note(sizes: Iterable[int]) -> str:
    """One line: the smallest difference between two cells that so many questions are likely to show, the most first."""
    sd = discordance_sd(ASSUMED_DISCORDANCE)
    most, *fewer = sorted(set(sizes), reverse=True)
    others = "".join(f"; with {n:,}, by {_least(n, sd)} or more" for n in fewer)
    return (
        f"With {most:,} questions, cells that differ by {_least(most, sd)} or more in answer_em are told apart 4 times "
        f"in 5{others} (5 % level; if they disagree on {100 * ASSUMED_DISCORDANCE:.0f} % of the questions)"
    )


def _least(n: int, sd: float) -> str:
    return f"{min(1.0, detectable_difference(n, sd)):.2g}"
