from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.config import RunConfig, validate_config
from arena.errors import BudgetError, ConfigError, RunStoreError
from arena.llm.limits import Spent
from arena.llm.metering import GIVEN_UP
from arena.store import PAID, RunStore
from arena.store.journal import scan
from arena.types import CallAttempt, PaidAttempt, Score, Verdict
from experiments.execution.budget import check_budget, open_budget, paid_lines, paying, price_table, reply_cache
from tests.samples import answered, call

STARTED = "2026-11-29T12:00:00+00:00"


def config(**values: object) -> RunConfig:
    return validate_config({"llm": {"model": "fake:"}} | values, "test")


PRICED = {"fake:": {"input_usd_per_million": 1e6, "output_usd_per_million": 1e6}}


@pytest.fixture
def stopped(tmp_path: Path) -> RunStore:
    """A run with two records of 105 tokens each; what was in flight at its end used more."""
    store = RunStore(tmp_path / "r1")
    with store.creating({"status": "running", "started": STARTED, "config": {}, "identity": {}}) as journal:
        journal.append(answered("q1", "x"))
        journal.append(answered("q2", "x"))
    return store


def test_a_bound_on_money_needs_a_price_and_one_on_tokens_does_not() -> None:
    check_budget(config(budget={"max_tokens": 5}), price_table(config(), STARTED))
    priced = config(budget={"max_usd": 5}, prices=PRICED)
    check_budget(priced, price_table(priced, STARTED))
    unpriced = config(budget={"max_usd": 5})
    with pytest.raises(ConfigError, match="no price is known for model 'fake:'"):
        check_budget(unpriced, price_table(unpriced, STARTED))


def test_a_listed_model_at_another_address_has_no_price() -> None:
    elsewhere = config(llm={"model": "openai:gpt-4o", "base_url": "http://127.0.0.1:8000/v1"}, budget={"max_usd": 5})
    with pytest.raises(ConfigError, match="'openai:gpt-4o' at http://127"):
        check_budget(elsewhere, price_table(elsewhere, STARTED))


def test_what_the_journal_of_a_run_without_a_ledger_has_is_spent(stopped: RunStore) -> None:
    budget = open_budget(config(prices=PRICED, budget={"max_usd": 210}), stopped)
    assert (budget.spent.usd, budget.spent.tokens) == (210.0, 210)
    with pytest.raises(BudgetError):
        budget.check()


@pytest.mark.parametrize(
    ("notes", "wanted"),
    [
        ({"given_up": {"usd": 106.0, "tokens": 107}}, (316.0, 317)),
        ({"spent": {"usd": 315.0, "tokens": 315}}, (315.0, 315)),
    ],
)
def test_what_its_manifest_says_was_spent_beside_is_spent_too(
    stopped: RunStore, notes: dict[str, Any], wanted: tuple[float, int]
) -> None:
    stopped.write_manifest(stopped.manifest() | notes)
    budget = open_budget(config(prices=PRICED, budget={"max_tokens": 1_000}), stopped)
    assert (budget.spent.usd, budget.spent.tokens) == wanted


def paid(number: int = 1, **changes: Any) -> PaidAttempt:
    attempt = changes.pop("attempt", CallAttempt(100, 5))
    return replace(PaidAttempt("question", "fake:", "generate", "0" * 16, number, attempt), **changes)


def test_a_ledger_that_is_begun_late_begins_with_what_was_spent_before(stopped: RunStore) -> None:
    settings = config(prices=PRICED, budget={"max_usd": 1_000})
    budget = open_budget(settings, stopped)
    with paying(budget, stopped):
        budget.pay(paid())
    assert [one.purpose for one in stopped.paid()] == ["before", "question"]
    spent = open_budget(settings, stopped).spent
    assert (spent.usd, spent.tokens) == (315.0, 315)
    assert stopped.manifest()["spent"]["tokens"] == 315
    with paying(open_budget(settings, stopped), stopped):
        pass
    assert open_budget(settings, stopped).spent == spent


def test_a_ledger_is_all_that_counts_and_a_line_cut_short_does_not(stopped: RunStore) -> None:
    with stopped.paying() as ledger:
        ledger.enter(paid())
        ledger.enter(paid(2, attempt=CallAttempt(None, None), reserved_input_tokens=30, reserved_output_tokens=256))
        ledger.enter(paid(purpose="judge", base_url="http://127.0.0.1:1/v1"))
    path = stopped.folder / PAID
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:-9])
    budget = open_budget(config(prices=PRICED), stopped)
    assert budget.spent == Spent(210.0, 210, 3, 1, 286.0, 286)
    with paying(budget, stopped):
        budget.pay(paid())
    assert path.read_bytes().startswith(whole)
    assert len(list(stopped.paid())) == 4
    assert len({line.key for line in scan(path)}) == 4


def test_a_line_that_is_there_twice_counts_once_and_equal_attempts_twice(stopped: RunStore) -> None:
    with stopped.paying() as ledger:
        ledger.enter(paid())
        ledger.enter(paid())
    path = stopped.folder / PAID
    path.write_bytes(path.read_bytes() * 2)
    assert open_budget(config(), stopped).spent.tokens == 210
    assert len(list(paid_lines(stopped))) == 2


def test_a_ledger_with_damage_in_the_middle_is_refused_by_name(stopped: RunStore) -> None:
    with stopped.paying() as ledger:
        ledger.enter(paid())
        ledger.enter(paid())
    path = stopped.folder / PAID
    path.write_bytes(path.read_bytes().replace(b"100", b"999", 1))
    with pytest.raises(RunStoreError, match=r"paid.jsonl, line 1: damaged"):
        open_budget(config(), stopped)


def test_what_judges_took_is_spent_too_and_what_was_asked_for_again_is_spent_twice(stopped: RunStore) -> None:
    judged = config(budget={"max_tokens": 1_000}, judge={"llm": {"model": "fake:"}})
    unread = Verdict(
        *("vanilla/dense/0", "q1", "faithfulness", "fake:", "s", "t", 0),
        Score("faithfulness", None, "judge failed"),
        calls=(call(),),
    )
    with stopped.judging() as journal:
        journal.append(unread)
        journal.append(replace(unread, score=Score("faithfulness", 1.0)))
    assert open_budget(judged, stopped).spent.tokens == 4 * 105


def test_replays_and_requests_that_were_given_up_are_not_taken_for_paid(stopped: RunStore) -> None:
    with stopped.writing() as journal:
        calls = (call(replayed=True), call(attempts=(CallAttempt(None, None, fault=GIVEN_UP),)))
        journal.append(replace(answered("q3", "x"), calls=calls))
    assert open_budget(config(), stopped).spent.tokens == 210


def test_a_new_run_has_spent_nothing(tmp_path: Path) -> None:
    assert open_budget(config(), RunStore(tmp_path / "none")).spent == Spent()


@pytest.mark.parametrize(
    ("model", "cache", "wanted"),
    [
        ("fake:", None, False),
        ("fake:", True, True),
        ("openai:x", None, True),
        ("local:x.gguf", None, True),
        ("openai:x", False, False),
    ],
)
def test_replies_are_kept_of_all_models_but_the_fake(model: str, cache: bool | None, wanted: bool) -> None:
    with reply_cache(config(llm={"model": model, "cache": cache}).llm) as kept:
        assert (kept is not None) == wanted
