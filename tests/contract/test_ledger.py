"""Every contestant under the runner: its calls, its failures and what it may use."""

from __future__ import annotations

from functools import cache

import pytest

from arena.errors import ModelCallError, ModelSetupError, StrategyError
from arena.llm.limits import FINAL_CALLS, FINAL_ROLE, Allowance
from strategies import STRATEGIES
from tests.contract.contestants import (
    ENTRIES,
    VARIANTS,
    chooses_among_options,
    every,
    in_free_text,
    may_retrieve,
    writing,
)
from tests.contract.courses import under_every_judge, usual
from tests.contract.parrot_model import ParrotModel, record_of
from tests.contract.shelf import SUMMARY, TASK


@every
def test_the_runner_takes_what_a_strategy_hands_back(entry: str) -> None:
    record = record_of(entry)
    spec = VARIANTS[entry].spec
    assert record.failure is None
    assert record.outcome == "answered" or chooses_among_options(VARIANTS[entry])  # a parrot names no option
    assert bool(record.calls) == spec.needs_model
    assert all(call.started_seconds is not None for call in record.calls)
    assert not record.retrievals or may_retrieve(VARIANTS[entry])


@writing
def test_every_call_is_in_the_ledger_under_a_documented_role(entry: str) -> None:
    record = record_of(entry)
    assert {call.role for call in record.calls} <= set(VARIANTS[entry].spec.roles)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_documented_roles_are_those_that_are_called(name: str) -> None:
    called = {
        role
        for entry in ENTRIES
        if VARIANTS[entry].spec.name == name
        for task in (TASK, SUMMARY)
        for course in under_every_judge(entry, task)
        for role in course.writer.roles()
    }
    spent = {
        call.role
        for entry in ENTRIES
        if VARIANTS[entry].spec.name == name
        for call in record_of(entry, allowance=Allowance(calls=1)).calls
    }
    assert called | spent == set(STRATEGIES[name].roles)


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_is_asked_beside_the_final_answer_is_versioned(name: str) -> None:
    assert bool(STRATEGIES[name].prompts) == bool(set(STRATEGIES[name].roles) - {FINAL_ROLE})


@writing
def test_a_failed_call_is_the_runners_business(entry: str) -> None:
    record = record_of(entry, ParrotModel(fails="HTTP 500"))
    assert record.failure is not None
    assert (record.outcome, record.failure.stage, record.failure.type) == ("failed", "model", ModelCallError.__name__)
    assert "HTTP 500" in record.failure.message
    assert record.calls


@in_free_text
@pytest.mark.parametrize("reply", [" \n", "<think>Let me see", "<think>Let me see</think>"])
def test_a_reply_that_says_nothing_is_a_failure_whose_call_is_kept(entry: str, reply: str) -> None:
    record = record_of(entry, ParrotModel(reply))
    assert record.failure is not None
    assert (record.outcome, record.failure.type) == ("failed", StrategyError.__name__)
    assert "llm.max_tokens" in record.failure.message
    assert record.calls


@writing
def test_a_refused_key_stops_the_run(entry: str) -> None:
    with pytest.raises(ModelSetupError, match="the key is refused"):
        record_of(entry, ParrotModel(refuses="the key is refused"))


@cache
def calls_wanted(entry: str) -> int:
    return len(record_of(entry).calls)


@writing
@pytest.mark.parametrize("calls", [1, 2, 4])
def test_a_spent_allowance_ends_with_an_answer_and_says_so(entry: str, calls: int) -> None:
    wanted = calls_wanted(entry)
    record = record_of(entry, allowance=Allowance(calls=calls))
    assert record.failure is None
    assert record.answer is not None
    assert len(record.calls) <= calls + FINAL_CALLS
    beyond = record.calls[calls:]
    assert {call.role for call in beyond} <= {FINAL_ROLE}
    spent = [decision for decision in record.decisions if decision.node == "allowance"]
    assert len(spent) <= 1
    assert not spent or (spent[0].choice, spent[0].changed) == ("spent", ("answer",))
    if len(record.calls) < wanted:
        assert spent, "it was cut short and does not say so"


@writing
def test_tokens_are_bounded_too(entry: str) -> None:
    record = record_of(entry, allowance=Allowance(tokens=9))
    assert record.answer is not None
    assert sum(call.role != FINAL_ROLE for call in record.calls) <= max(1, len(usual(entry).writer.asked))
