from __future__ import annotations

import pytest

from arena.errors import BudgetError, UserError
from arena.llm.budget import MOST_UNKNOWN, Budget
from arena.types import CallAttempt, LLMCall
from tests.samples import call


def dear(one: LLMCall) -> float | None:
    """A dollar a token; None where the tokens are unknown."""
    if one.input_tokens is None or one.output_tokens is None:
        return None
    return float(one.input_tokens + one.output_tokens)


def nothing_known(one: LLMCall) -> float | None:
    return None


def test_without_bounds_nothing_stops_and_everything_is_counted() -> None:
    budget = Budget(None, None, dear)
    for _ in range(3):
        budget.check()
        budget.charge(call(input_tokens=10, output_tokens=5))
    assert (budget.spent_usd, budget.spent_tokens) == (45.0, 45)


def test_a_bound_on_money_stops_at_it_and_says_how_to_go_on() -> None:
    budget = Budget(30.0, None, dear)
    budget.charge(call(input_tokens=10, output_tokens=19))
    budget.check()
    budget.charge(call(input_tokens=1, output_tokens=0))
    with pytest.raises(BudgetError, match=r"\$30.0000 of budget.max_usd 30; .*--max-usd.* --resume") as caught:
        budget.check()
    assert isinstance(caught.value, UserError)


def test_a_bound_on_tokens_holds_where_no_price_is_known() -> None:
    budget = Budget(None, 1_000, nothing_known)
    budget.charge(call(input_tokens=990, output_tokens=10))
    with pytest.raises(BudgetError, match=r"spent 1,000 tokens of budget.max_tokens 1,000; .*--max-run-tokens"):
        budget.check()


def test_a_replayed_call_costs_nothing() -> None:
    budget = Budget(1.0, 1, dear)
    budget.charge(call(replayed=True))
    budget.check()
    assert (budget.spent_usd, budget.spent_tokens) == (0.0, 0)


def test_every_attempt_is_charged_and_an_unknown_one_is_named() -> None:
    attempts = (CallAttempt(None, None, fault="timeout"), CallAttempt(7, None), CallAttempt(0, 0), CallAttempt(10, 2))
    budget = Budget(None, 10, dear)
    budget.charge(call(attempts=attempts))
    assert (budget.spent_usd, budget.spent_tokens) == (12.0, 19)
    with pytest.raises(BudgetError, match="2 attempts of unknown usage"):
        budget.check()


def test_what_an_earlier_part_of_the_run_spent_counts() -> None:
    with pytest.raises(BudgetError):
        Budget(5.0, None, dear, spent_usd=5.0).check()
    with pytest.raises(BudgetError):
        Budget(None, 5, dear, spent_tokens=5).check()


def test_a_bound_that_nobody_counts_towards_is_given_up() -> None:
    unreported = call(attempts=(CallAttempt(None, None),))
    bounded, unbounded = Budget(1.0, None, dear), Budget(None, None, dear)
    for budget in (bounded, unbounded):
        for _ in range(MOST_UNKNOWN):
            budget.charge(unreported)
        budget.check()
        budget.charge(unreported)
    unbounded.check()
    with pytest.raises(BudgetError, match=r"did not report what 21 of 21 attempts used; .*sample.limit"):
        bounded.check()


def test_a_bad_night_among_reported_calls_is_no_reason_to_stop() -> None:
    budget = Budget(None, 10**6, dear)
    for _ in range(2 * MOST_UNKNOWN):
        budget.charge(call(attempts=(CallAttempt(None, None, fault="timeout"), CallAttempt(1, 1))))
    budget.check()
