from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from weakref import WeakSet

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.accounting import Account, Spend, Total, account_of, account_run, add_up
from arena.config import PriceConfig
from arena.prices import PriceTable
from arena.types import CallAttempt, LLMCall, RunRecord
from tests.samples import answered, call, cell

PRICES = PriceTable({"fake:": PriceConfig(input_usd_per_million=1e6, output_usd_per_million=2e6)}, date(2026, 1, 31))
"""A dollar a token read, two a token written."""


def record(question_id: str, *calls: LLMCall, strategy: str = "vanilla") -> RunRecord:
    return replace(answered(question_id, "x", of=cell(strategy)), calls=calls)


def test_every_attempt_of_every_call_is_in_the_account() -> None:
    attempts = (CallAttempt(0, 0, fault="HTTP 429"), CallAttempt(10, 3, cached_input_tokens=4, service_seconds=0.5))
    account = account_of([call(attempts=attempts, backoff_seconds=1.5), call(repair=True)], cell(), PRICES)
    spent = account.whole
    assert (spent.calls, spent.attempts, account.repairs) == (2, 3, 1)
    assert (spent.input_tokens.value, spent.output_tokens.value, spent.cached_input_tokens) == (110, 8, 4)
    assert spent.reasoning_tokens is None
    assert spent.usd.value == pytest.approx(110 + 16)
    assert account.backoff_seconds == 1.5
    assert account.service_seconds == pytest.approx(0.7)


def test_an_unknown_attempt_makes_the_sum_unknown_and_leaves_a_lower_bound() -> None:
    attempts = (CallAttempt(None, None, fault="timeout"), CallAttempt(10, 3))
    account = account_of([call(attempts=attempts), call(input_tokens=None, output_tokens=2)], cell(), PRICES)
    spent = account.whole
    assert spent.input_tokens == Total(10, 2)
    assert spent.output_tokens == Total(5, 1)
    assert spent.usd == Total(16.0, 2)
    assert (spent.input_tokens.value, spent.usd.value) == (None, None)
    assert account.unknown_calls == 2


def test_what_was_replayed_stands_apart_and_is_counted_as_what_it_would_have_cost() -> None:
    account = account_of([call(), call(replayed=True), call(replayed=True)], cell(), PRICES)
    assert (account.paid.calls, account.replayed.calls, account.whole.calls) == (1, 2, 3)
    assert account.paid.usd.value == pytest.approx(110)
    assert account.replayed.usd.value == pytest.approx(220)
    assert account.replayed.input_tokens.value == 200


def test_a_call_without_a_price_is_counted_and_costs_nothing_known() -> None:
    account = account_of([call(model="openai:no-such-model"), call()], cell(), PRICES)
    assert account.unpriced_calls == 1
    assert account.whole.usd == Total(110.0, 1)
    assert account_of([call()], cell(), None).unpriced_calls == 1


def test_no_calls_cost_nothing() -> None:
    assert add_up([]) == Account()
    assert Account().whole.usd.value == 0


def test_books_are_kept_by_cell_and_role_and_add_up_along_each() -> None:
    books = account_run(
        [
            record("q1", call(role="grade"), call(role="generate"), strategy="corrective"),
            record("q1", call(role="generate")),
            record("q2", call(role="generate"), call(role="generate", error="HTTP 500")),
            record("q1", strategy="retrieval_only"),
        ],
        PRICES,
    )
    vanilla, corrective, bare = (cell(name).key for name in ("vanilla", "corrective", "retrieval_only"))
    assert set(books.by_role) == {(corrective, "grade"), (corrective, "generate"), (vanilla, "generate")}
    assert books.n_questions == {corrective: 1, vanilla: 2, bare: 1}
    assert (books.of_cell(vanilla).whole.calls, books.of_cell(vanilla).failed_calls) == (3, 1)
    assert books.of_cell(bare) == Account()
    assert books.of_strategy("corrective").whole.calls == 2
    assert books.of_role("generate").whole.calls == 4
    assert books.whole.whole.calls == 5


class Watched(str):
    """A text that a weak reference can point to."""


def test_records_are_read_one_at_a_time() -> None:
    alive: WeakSet[Watched] = WeakSet()
    most_alive: list[int] = []

    def records() -> Iterator[RunRecord]:
        for number in range(50):
            question_id = Watched(f"q{number}")
            alive.add(question_id)
            most_alive.append(len(alive))
            yield record(question_id, call())

    books = account_run(records(), PRICES)
    assert max(most_alive) <= 2
    assert len(books.by_role) == 1
    assert books.whole.whole.calls == 50


counts = st.none() | st.integers(0, 10_000)
attempts = st.builds(CallAttempt, counts, counts, service_seconds=st.floats(0, 10))
calls = st.lists(
    st.builds(
        lambda tried, replayed, role: call(attempts=tuple(tried), replayed=replayed, role=role),
        st.lists(attempts, min_size=1, max_size=4),
        st.booleans(),
        st.sampled_from(["generate", "grade"]),
    ),
    max_size=8,
)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["vanilla", "ircot"]), calls), max_size=6))
def test_no_token_is_lost_or_counted_twice(asked: list[tuple[str, list[LLMCall]]]) -> None:
    books = account_run((record("q", *made, strategy=strategy) for strategy, made in asked), PRICES)
    tried = [attempt for _, made in asked for one in made for attempt in one.attempts]
    known = sum(attempt.input_tokens for attempt in tried if attempt.input_tokens is not None)
    for total in (
        books.whole,
        add_up(books.of_cell(key) for key in books.cells),
        add_up(books.of_role(role) for role in ("generate", "grade")),
        add_up(books.of_strategy(name) for name in ("vanilla", "ircot")),
    ):
        assert total.whole.input_tokens == Total(known, sum(attempt.input_tokens is None for attempt in tried))
        assert total.whole.attempts == len(tried)
        assert total.service_seconds == pytest.approx(sum(attempt.service_seconds for attempt in tried))


def test_what_is_unknown_of_no_calls_is_kept_in_a_sum() -> None:
    """As of predictions: nobody knows what they used, nor how many calls it took."""
    unknown = Account(paid=Spend(usd=Total(0.0, 1)), replayed=Spend(input_tokens=Total(0, 2)), unpriced_calls=1)
    assert add_up([Account(), unknown, Account()]) == unknown
    assert (unknown + unknown).paid.usd == Total(0.0, 2)
