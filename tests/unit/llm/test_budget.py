from __future__ import annotations

import pytest

from arena.errors import BudgetError, RunStoreError, UserError
from arena.llm.limits import Budget, Spent
from arena.types import CallAttempt, PaidAttempt


def dear(paid: PaidAttempt) -> float | None:
    """A dollar a token; None where the tokens are unknown."""
    read, written = paid.attempt.input_tokens, paid.attempt.output_tokens
    return None if read is None or written is None else float(read + written)


def paid(read: int | None, written: int | None, reserved: tuple[int, int] = (0, 0)) -> PaidAttempt:
    return PaidAttempt("question", "fake:", "generate", "0" * 16, 1, CallAttempt(read, written), None, *reserved)


def test_without_bounds_nothing_stops_and_everything_is_counted() -> None:
    budget = Budget(None, None, dear)
    for _ in range(3):
        budget.check()
        budget.pay(paid(10, 5))
    assert budget.spent == Spent(45.0, 45, 3)


def test_a_bound_on_money_stops_at_it_and_says_how_to_go_on() -> None:
    budget = Budget(30.0, None, dear)
    budget.pay(paid(10, 19))
    budget.check()
    budget.pay(paid(1, 0))
    with pytest.raises(BudgetError, match=r"\$30.0000 of budget.max_usd 30; .* --resume --max-usd") as caught:
        budget.check()
    assert isinstance(caught.value, UserError)


def test_a_bound_on_tokens_holds_where_no_price_is_known() -> None:
    budget = Budget(None, 1_000)
    budget.pay(paid(990, 10))
    with pytest.raises(BudgetError, match=r"spent 1,000 tokens of budget.max_tokens 1,000; .*--max-run-tokens"):
        budget.check()


def test_unknown_usage_reserves_an_estimate_apart_from_what_is_known() -> None:
    budget = Budget(50.0, 40, dear)
    budget.pay(paid(10, 2))
    budget.pay(paid(7, None, (0, 8)))
    budget.check()
    budget.pay(paid(None, None, (5, 8)))
    assert budget.spent == Spent(usd=12.0, tokens=19, attempts=3, unknown=2, reserved_usd=28.0, reserved_tokens=21)
    with pytest.raises(
        BudgetError, match="spent 19 tokens, and by estimate 21 more for 2 attempts of unknown usage, of"
    ):
        budget.check()
    bounded = Budget(30.0, None, dear)
    bounded.pay(paid(None, None, (10, 20)))
    with pytest.raises(BudgetError, match="max_usd 30") as caught:
        bounded.check()
    assert "$0.0000, and by estimate $30.0000 more for 1 attempts" in str(caught.value)


def test_a_provider_that_reports_nothing_uses_a_bound_up_by_estimate() -> None:
    budget = Budget(None, 1_000)
    for _ in range(100):
        budget.check()
        budget.pay(paid(None, None, (4, 5)))
    for _ in range(12):
        budget.pay(paid(None, None, (4, 5)))
    with pytest.raises(BudgetError, match="spent 0 tokens, and by estimate 1,008 more"):
        budget.check()


def test_an_attempt_is_written_down_before_it_is_counted_and_counted_even_if_that_fails() -> None:
    budget = Budget(None, None, dear)
    written: list[tuple[PaidAttempt, int]] = []

    def refuse(one: PaidAttempt) -> None:
        raise RunStoreError("disk full")

    with budget.written_ahead(lambda one: written.append((one, budget.spent.tokens))):
        budget.pay(paid(1, 2))
        budget.pay(paid(3, 4))
    assert written == [(paid(1, 2), 0), (paid(3, 4), 3)]
    with budget.written_ahead(refuse), pytest.raises(RunStoreError):
        budget.pay(paid(5, 6))
    assert budget.spent.tokens == 21


def test_what_an_earlier_part_of_the_run_spent_counts() -> None:
    def price(one: PaidAttempt) -> float | None:
        return one.usd

    before = PaidAttempt("before", "", "", "", 0, CallAttempt(5, 0), usd=5.0)
    with pytest.raises(BudgetError):
        Budget(5.0, None, price, before=before).check()
    with pytest.raises(BudgetError):
        Budget(None, 5, price, before=before).check()
