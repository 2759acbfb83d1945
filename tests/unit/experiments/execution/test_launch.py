from __future__ import annotations

from typing import Any

import pytest

from arena.config import LLMSettings, RunConfig
from arena.errors import ConfigError
from experiments.execution.start import settings_of


def test_nothing_typed_is_the_quickstart() -> None:
    settings = settings_of(None, {})
    assert (settings.dataset, settings.llm.model, settings.sample.balance) == ("world", "local:smollm2-135m", "even")
    assert settings.sample.model_limit is not None


def test_a_dataset_of_ones_own_is_asked_in_full_of_a_model_that_was_chosen() -> None:
    chosen = LLMSettings(model="openai:x")
    options = {"dataset": "jsonl:mine", "llm": {"model": "openai:x"}}
    assert settings_of(None, options) == RunConfig(dataset="jsonl:mine", llm=chosen)


def test_a_first_look_at_own_data_is_small_enough_for_the_bundled_model() -> None:
    first = settings_of(None, {"dataset": "jsonl:mine"})
    assert (first.modes, first.sample.model_limit, first.sample.limit) == (("hybrid",), 6, None)
    limited = settings_of(None, {"dataset": "jsonl:mine", "sample": {"limit": 4}, "modes": ["dense"]})
    assert (limited.modes, limited.sample.model_limit, limited.sample.limit) == (("dense",), None, 4)


@pytest.mark.parametrize("options", [{"llm": {"model": "openai:x"}}, {"sample": {"limit": 30}}])
def test_the_small_models_limit_is_not_put_on_others(options: dict[str, Any]) -> None:
    assert settings_of(None, options).sample.model_limit is None


def test_another_model_may_write_as_much_as_by_default() -> None:
    assert settings_of(None, {"llm": {"model": "openai:x"}}).llm.max_tokens == RunConfig().llm.max_tokens


def test_a_mistyped_option_is_blamed_on_the_command_line() -> None:
    with pytest.raises(ConfigError, match="the command line: 'concurrency' is 0"):
        settings_of(None, {"concurrency": 0})
