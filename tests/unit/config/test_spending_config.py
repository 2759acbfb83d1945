from __future__ import annotations

from typing import Any

import pytest

from arena.config import PriceConfig, RunConfig, validate_config
from arena.errors import ConfigError


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prices": {"openai:x": {"inptu_usd_per_million": 1}}}, "did you mean 'input_usd_per_million'?"),
        ({"prices": {"gpt": {"gpu_usd_per_hour": 1}}}, "'gpt' names no model: write PROVIDER:NAME"),
        ({"prices": {"a:x": {"input_usd_per_million": 1}}}, "needs both input_usd_per_million and output_usd"),
        ({"prices": {"a:x": {}}}, "or gpu_usd_per_hour alone"),
        (
            {"prices": {"a:x": {"gpu_usd_per_hour": 1, "cached_input_usd_per_million": 1}}},
            "priced per token or by gpu_usd_per_hour, not by both",
        ),
        ({"prices": {"a:x": {"gpu_usd_per_hour": -1}}}, "'prices.a:x.gpu_usd_per_hour' is -1"),
        ({"prices": {"a:x": {"gpu_usd_per_hour": float("nan")}}}, "gpu_usd_per_hour' is nan"),
        ({"budget": {"max_usd": 0}}, "'budget.max_usd' is 0"),
        ({"budget": {"max_usd": float("inf")}}, "'budget.max_usd' is inf"),
        ({"budget": {"max_token": 5}}, "did you mean 'max_tokens'?"),
        ({"allowance": {"calls": 0}}, "'allowance.calls' is 0"),
    ],
)
def test_a_bad_setting_names_itself_and_what_was_meant(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate_config(values, "study.yaml")
    assert message in str(caught.value)


def test_money_changes_no_result_and_an_allowance_does() -> None:
    base = RunConfig().fingerprint_fields()
    rich = {"budget": {"max_usd": 3.0}, "prices": {"fake:": {"gpu_usd_per_hour": 1.0}}}
    assert validate_config(rich, "x").fingerprint_fields() == base
    assert validate_config({"allowance": {"calls": 7}}, "x").fingerprint_fields() != base


def test_speed_and_caching_of_a_model_change_no_result() -> None:
    llm = {"requests_per_minute": 9, "tokens_per_minute": 9, "breaker_failures": 3, "cache": False}
    assert validate_config({"llm": llm}, "x").fingerprint_fields() == RunConfig().fingerprint_fields()


def test_prices_survive_the_manifest() -> None:
    config = validate_config({"prices": {"local:x": {"gpu_usd_per_hour": 2}}}, "x")
    assert validate_config(config.model_dump(mode="json"), "x") == config
    assert config.prices["local:x"] == PriceConfig(gpu_usd_per_hour=2.0)
