"""Contestants, their knobs, and their runs under other settings."""

from __future__ import annotations

import pytest

from arena.config import RunConfig, validate_config
from arena.errors import ConfigError
from experiments.studies.equalize.contestants import (
    EqualizedEntry,
    Unit,
    adjustable_settings,
    allowance_setting,
    config_under,
    run_name,
    start_list,
)
from strategies import find_variant


def config(*strategies: str, **more: object) -> RunConfig:
    return validate_config({"strategies": list(strategies), "modes": ["dense", "hybrid"], **more}, "test")


def contestant(entry: str) -> EqualizedEntry:
    return EqualizedEntry(entry, "dense", find_variant(entry))


def test_entries_are_told_apart_by_what_they_search_and_ask() -> None:
    found = start_list(config("retrieval_only", "vanilla", "closed_book", "oracle", "ircot:max_sentences=4"))
    assert [one.name for one in found.contestants[:2]] == ["vanilla-dense", "vanilla-hybrid"]
    assert found.controls == ("closed_book", "oracle")
    assert found.silent == ("retrieval_only",)
    assert found.contestants[2].variant.params.model_dump()["max_sentences"] == 4


def test_one_contestant_is_nothing_to_compare() -> None:
    with pytest.raises(ConfigError, match="nothing to make equal"):
        start_list(config("vanilla", "closed_book").model_copy(update={"modes": ("dense",)}))


def test_a_run_under_other_settings_is_that_of_one_contestant() -> None:
    base = config("vanilla", "adaptive:policy=always_c:max_sentences=3")
    made = config_under(
        base,
        contestant("adaptive:policy=always_c:max_sentences=3"),
        {"retrieval.k": 80, "max_sentences": 6, "allowance.tokens": 900},
    )
    assert made.strategies == ("adaptive:policy=always_c:max_sentences=6",)
    assert made.modes == ("dense",)
    assert (made.retrieval.k, made.retrieval.depth) == (80, 80)
    assert (made.allowance.tokens, made.allowance.calls) == (900, 400)
    assert validate_config(made.model_dump(mode="json"), "again") == made


def test_names_of_runs_differ_and_are_short() -> None:
    long = [contestant(f"self_rag:mode=closed_set:options=[{'a' * 40},{end}]") for end in ("b", "c")]
    names = {run_name(one, {"retrieval.k": 100, "allowance.tokens": 100_000}) for one in long}
    assert len(names) == 2
    assert all(len(name) <= 100 for name in names)
    assert run_name(contestant("vanilla"), {"retrieval.k": 12}) == "vanilla-dense_k-12"
    assert run_name(contestant("vanilla"), {}) == "vanilla-dense_own"


@pytest.mark.parametrize(
    ("entry", "unit", "names"),
    [
        ("vanilla", "tokens", ["retrieval.k"]),
        ("vanilla", "calls", []),
        ("self_rag", "calls", ["retrieval.k"]),
        ("ircot", "usd", ["retrieval.k", "max_passages", "max_sentences"]),
        ("adaptive", "calls", ["max_sentences"]),
    ],
)
def test_knobs_are_what_changes_the_spending(entry: str, unit: Unit, names: list[str]) -> None:
    knobs = adjustable_settings(config("vanilla"), contestant(entry), unit, n_passages=240)
    assert [one.name for one in knobs] == names
    assert all(one.low <= one.own <= one.high for one in knobs)


def test_an_allowance_bounds_strategies_that_ask_more_than_once() -> None:
    base = config("vanilla", allowance={"calls": 12})
    assert allowance_setting(base, contestant("vanilla"), "tokens", 900.0, 1000.0) is None
    assert allowance_setting(base, contestant("ircot"), "usd", 0.1, 0.2) is None
    tokens = allowance_setting(base, contestant("ircot"), "tokens", 900.0, 1000.0)
    assert tokens is not None
    assert (tokens.name, tokens.high, tokens.own) == ("allowance.tokens", 2000, 900)
    calls = allowance_setting(base, contestant("ircot"), "calls", 20.0, 30.0)
    assert calls is not None
    assert calls.high == 12
