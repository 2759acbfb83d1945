from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.config import RunConfig, validate_config
from arena.errors import BudgetError, ConfigError, RunStoreError
from arena.store import RunStore
from arena.types import Score, Verdict
from experiments.costs.spending import check_budget, given_up_note, open_budget, price_table, reply_cache, spent_note
from experiments.judging.opening import judge_budget
from experiments.manifests.manifest import model_warnings
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


def test_what_the_journal_has_is_spent(stopped: RunStore) -> None:
    budget = open_budget(config(prices=PRICED, budget={"max_usd": 210}), stopped)
    assert (budget.spent_usd, budget.spent_tokens) == (210.0, 210)
    with pytest.raises(BudgetError):
        budget.check()


def test_what_given_up_questions_spent_is_spent_too(stopped: RunStore) -> None:
    for usd, tokens in ((105.0, 105), (1.0, 2)):
        stopped.write_manifest(stopped.manifest() | given_up_note(stopped.manifest(), usd, tokens))
    budget = open_budget(config(prices=PRICED, budget={"max_tokens": 1_000}), stopped)
    assert (budget.spent_usd, budget.spent_tokens) == (316.0, 317)


def test_what_a_stopped_session_knew_to_be_spent_is_spent(stopped: RunStore) -> None:
    budget = open_budget(config(prices=PRICED, budget={"max_usd": 1_000}), stopped)
    budget.charge(call())
    stopped.write_manifest(stopped.manifest() | spent_note(budget))
    again = open_budget(config(prices=PRICED, budget={"max_usd": 1_000}), stopped)
    assert (again.spent_usd, again.spent_tokens) == (315.0, 315)


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
    assert open_budget(judged, stopped).spent_tokens == 4 * 105
    assert judge_budget(judged, stopped).spent_tokens == 4 * 105


def test_the_journal_is_not_read_for_a_bound_that_is_not_set(stopped: RunStore) -> None:
    stopped.records_path.write_bytes(b"no line of a journal\n")
    assert open_budget(config(prices=PRICED), stopped).spent_tokens == 0
    with pytest.raises(RunStoreError):
        open_budget(config(prices=PRICED, budget={"max_usd": 5}), stopped)


def test_a_new_run_has_spent_nothing(tmp_path: Path) -> None:
    budget = open_budget(config(), RunStore(tmp_path / "none"))
    assert (budget.spent_usd, budget.spent_tokens) == (0.0, 0)


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


def test_refused_parameters_are_a_warning_once_for_each_model() -> None:
    records = [
        replace(answered("q1", "x"), calls=(call(dropped=("temperature",)), call(dropped=("temperature", "seed")))),
        replace(answered("q2", "x"), calls=(call(model="openai:y"),)),
    ]
    assert model_warnings(records) == ["model 'fake:' refuses temperature, seed: it was asked without"]
