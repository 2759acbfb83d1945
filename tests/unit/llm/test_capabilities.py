from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.parameters import Capabilities, Parameters, Unsupported

ASKED = Parameters(
    temperature=0.5,
    top_p=0.9,
    seed=3,
    max_tokens=64,
    stop=("\n",),
    alternatives=30,
    form="json_schema",
    special_tokens=True,
)
NAMES = ["temperature", "top_p", "seed", "max_tokens", "stop", "logprobs", "json_schema", "json_mode", "special_tokens"]


def after(*found: Unsupported, has_other_limit: bool = False) -> Capabilities:
    capabilities = Capabilities(has_other_limit=has_other_limit)
    for one in found:
        capabilities.learn(one, capabilities.fit(ASKED))
    return capabilities


def test_nothing_is_left_out_beforehand() -> None:
    assert after().fit(ASKED) == replace(ASKED, alternatives=20)
    assert after().left_out(ASKED) == ()


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "max_tokens", "stop", "special_tokens"])
def test_what_is_refused_is_left_out_from_then_on(name: str) -> None:
    capabilities = after(Unsupported(name))
    assert name not in capabilities.fit(ASKED).names
    assert capabilities.left_out(ASKED) == (name,)
    assert capabilities.left_out(Parameters()) == ()


def test_a_schema_gives_way_to_json_mode_and_that_to_nothing() -> None:
    first = after(Unsupported("json_schema"))
    assert (first.fit(ASKED).form, first.left_out(ASKED)) == ("json_mode", ("json_schema",))
    second = after(Unsupported("json_schema"), Unsupported("json_mode"))
    assert (second.fit(ASKED).form, second.left_out(ASKED)) == (None, ("json_mode", "json_schema"))


def test_fewer_alternatives_are_better_than_none() -> None:
    fewer = after(Unsupported("logprobs", most_alternatives=5))
    assert (fewer.fit(ASKED).alternatives, fewer.left_out(ASKED)) == (5, ())
    none = after(Unsupported("logprobs", most_alternatives=5), Unsupported("logprobs"))
    assert (none.fit(ASKED).alternatives, none.left_out(ASKED)) == (0, ("logprobs",))


def test_the_bound_goes_by_its_other_name_before_it_goes() -> None:
    renamed = after(Unsupported("max_tokens"), has_other_limit=True)
    assert (renamed.fit(ASKED).max_tokens, renamed.fit(ASKED).other_limit_name) == (64, True)
    assert renamed.left_out(ASKED) == ()
    gone = after(Unsupported("max_tokens"), Unsupported("max_tokens"), has_other_limit=True)
    assert gone.left_out(ASKED) == ("max_tokens",)


def test_a_refusal_that_another_call_met_first_is_worth_another_try() -> None:
    capabilities = Capabilities()
    sent = capabilities.fit(ASKED)
    assert capabilities.learn(Unsupported("seed"), sent)
    assert capabilities.learn(Unsupported("seed"), sent)
    assert not capabilities.learn(Unsupported("seed"), capabilities.fit(ASKED))


REFUSALS = st.builds(Unsupported, st.sampled_from(NAMES), st.none() | st.integers(1, 30))


@given(st.lists(REFUSALS, max_size=60), st.booleans())
def test_learning_comes_to_an_end(refusals: list[Unsupported], has_other_limit: bool) -> None:
    capabilities = Capabilities(has_other_limit=has_other_limit)
    progress = [capabilities.learn(one, capabilities.fit(ASKED)) for one in refusals]
    assert sum(progress) <= len(NAMES) + 1 + 20
    assert set(capabilities.left_out(ASKED)) <= set(NAMES)
