from __future__ import annotations

from datetime import date

import pytest

from arena.config import PriceConfig
from arena.prices import HourlyPrice, PriceTable, TokenPrice, call_usd
from arena.types import CallAttempt, Cell
from tests.samples import call

DAY = date(2026, 11, 29)


def table(**own: PriceConfig) -> PriceTable:
    return PriceTable({f"openai:{name}": price for name, price in own.items()}, DAY)


PER_TOKEN = PriceConfig(input_usd_per_million=2, output_usd_per_million=10, cached_input_usd_per_million=0.5)


def test_cached_input_has_its_own_price_and_reasoning_is_output() -> None:
    attempt = CallAttempt(1_000_000, 100_000, cached_input_tokens=400_000, reasoning_tokens=90_000)
    assert table(x=PER_TOKEN).usd(call(model="openai:x", attempts=(attempt,))) == pytest.approx(1.2 + 0.2 + 1.0)


def test_cached_input_costs_the_same_where_no_price_is_given_for_it() -> None:
    plain = PriceConfig(input_usd_per_million=2, output_usd_per_million=10)
    attempt = CallAttempt(1_000_000, 0, cached_input_tokens=400_000)
    assert table(x=plain).usd(call(model="openai:x", attempts=(attempt,))) == pytest.approx(2.0)


def test_every_attempt_costs_and_one_unknown_makes_the_call_unknown() -> None:
    price = TokenPrice(2.0, 10.0, 2.0)
    known = CallAttempt(500_000, 0)
    assert call_usd(price, call(attempts=(known, CallAttempt(0, 0, fault="HTTP 429"), known))) == pytest.approx(2.0)
    assert call_usd(price, call(attempts=(known, CallAttempt(None, None, fault="timeout")))) is None
    assert call_usd(price, call(attempts=(CallAttempt(500_000, None),))) is None


def test_an_hour_is_paid_by_the_second_and_a_replay_has_none() -> None:
    price = HourlyPrice(36.0)
    served = call(input_tokens=None, service_seconds=50.0)
    assert call_usd(price, served) == pytest.approx(0.5)
    assert call_usd(price, call(service_seconds=0.0, replayed=True)) is None


def test_the_list_knows_the_providers_by_our_names_for_them() -> None:
    for model in (
        "openai:gpt-4o-mini",
        "anthropic:claude-sonnet-4-5",
        "google_genai:gemini-2.5-flash",
        "mistralai:mistral-small-latest",
        "groq:llama-3.3-70b-versatile",
        "xai:grok-4",
        "openrouter:openai/gpt-4o",
    ):
        assert table().usd(call(model=model)) is not None, model


def test_a_list_price_by_hand() -> None:
    attempt = CallAttempt(1_000_000, 100_000, cached_input_tokens=200_000)
    assert table().usd(call(model="openai:gpt-4o-mini", attempts=(attempt,))) == pytest.approx(
        0.8 * 0.15 + 0.2 * 0.075 + 0.1 * 0.6
    )


def test_a_long_prompt_is_priced_attempt_by_attempt() -> None:
    """Beyond 200,000 tokens this model charges more for all of them; two short prompts are no long one."""
    model = "anthropic:claude-sonnet-4-5"
    short = CallAttempt(150_000, 0)
    twice = table().usd(call(model=model, attempts=(short, short)))
    once = table().usd(call(model=model, attempts=(CallAttempt(300_000, 0),)))
    assert twice == pytest.approx(0.9)
    assert once == pytest.approx(1.8)


@pytest.mark.parametrize(
    "model", ["local:smollm2-135m", "local:gpt-4o-mini", "fake:", "ollama:llama3", "openai:no-such-model", "x:y"]
)
def test_nothing_is_free_or_guessed(model: str) -> None:
    assert table().price(model) is None
    assert table().usd(call(model=model)) is None


def test_half_a_price_is_none() -> None:
    """The list has models without any price, and embedding models without one for output."""
    assert table().price("azure:phi-4-reasoning:free") is None
    assert table().price("openai:text-embedding-3-small") is None


def test_a_price_that_changes_with_the_hour_is_unknown() -> None:
    assert table().price("deepseek:deepseek-chat") is None


def test_another_address_is_another_provider() -> None:
    prices = table()
    assert prices.price("openai:gpt-4o-mini", "http://127.0.0.1:8000/v1") is None
    assert prices.price("openai:gpt-4o-mini", "https://api.openai.com/v1") is not None
    assert prices.price("openai:openai/gpt-4o", "https://openrouter.ai/api/v1") is not None


def test_the_users_price_goes_over_the_list_and_any_address() -> None:
    prices = PriceTable({"openai:gpt-4o-mini": PER_TOKEN}, DAY)
    assert prices.price("openai:gpt-4o-mini", "http://127.0.0.1:8000/v1") == TokenPrice(2.0, 10.0, 0.5)


def test_a_cells_address_is_that_of_its_own_model_only() -> None:
    cell = Cell("vanilla", "dense", "openai:gpt-4o-mini", {"base_url": "http://127.0.0.1:8000/v1"})
    assert table().price_of(cell, call(model="openai:gpt-4o-mini")) is None
    assert table().price_of(cell, call(model="openai:gpt-4o")) is not None


def test_the_day_decides_where_a_price_was_changed() -> None:
    calls = call(model="openai:o3", input_tokens=1_000_000, output_tokens=0)
    before, after = (PriceTable({}, day).usd(calls) for day in (date(2025, 6, 1), DAY))
    assert (before, after) == (10.0, 2.0)


def test_an_impossible_count_of_cached_tokens_costs_no_more_than_all_of_them() -> None:
    attempt = CallAttempt(10, 0, cached_input_tokens=20)
    assert table(x=PER_TOKEN).usd(call(model="openai:x", attempts=(attempt,))) == pytest.approx(10 * 0.5e-6)
    assert table().usd(call(model="openai:gpt-4o-mini", attempts=(attempt,))) == pytest.approx(10 * 0.075e-6)


def test_the_source_names_the_list_and_its_version() -> None:
    assert table().source.startswith("genai-prices ")
    assert table().as_of == DAY
