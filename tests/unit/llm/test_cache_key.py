from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.cache import cache_key
from arena.protocols import Message, ModelRequest

IDENTITY = {"provider": "openai", "endpoint": "http://one/v1", "model": "m", "weights": None}
PARAMETERS = {"temperature": 0.0, "max_tokens": 256, "seed": 0, "top_p": None}
NEVER_SENT = {"role", "repair"}

small = st.integers(0, 2)
content = st.text(st.characters(exclude_categories=()), max_size=4)  # lone surrogates too
message = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), content)
json_value = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(0, 1), content)
schema = st.dictionaries(content, st.one_of(json_value, st.dictionaries(content, json_value, max_size=2)), max_size=2)

FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "prompt": st.one_of(content, st.lists(message, max_size=3).map(tuple)),
    "role": content,
    "room": st.one_of(st.none(), small),
    "limit": st.one_of(st.none(), small),
    "alternatives": small,
    "json_schema": st.one_of(st.none(), schema),
    "stop": st.lists(content, max_size=2).map(tuple),
    "sample": small,
    "repair": st.booleans(),
}
requests = st.builds(ModelRequest, **FIELDS)
settings = st.dictionaries(st.sampled_from(["model", "endpoint", "seed", "temperature", ""]), json_value, max_size=4)


def sent(request: ModelRequest) -> list[object]:
    """What the provider gets to see, comparable: the order of a schema's keys counts, 1 and 1.0 are two."""
    return [repr(getattr(request, field.name)) for field in dataclasses.fields(request) if field.name not in NEVER_SENT]


def test_every_field_of_a_request_is_tried() -> None:
    assert set(FIELDS) == {field.name for field in dataclasses.fields(ModelRequest)}


@given(requests, requests)
def test_a_key_is_equal_exactly_when_what_is_sent_is(one: ModelRequest, other: ModelRequest) -> None:
    equal = cache_key(IDENTITY, PARAMETERS, one) == cache_key(IDENTITY, PARAMETERS, other)
    assert equal == (sent(one) == sent(other))


@pytest.mark.parametrize("name", sorted(set(FIELDS) - NEVER_SENT))
@given(st.data())
def test_changing_one_field_of_the_request_changes_the_key(name: str, data: st.DataObject) -> None:
    request = data.draw(requests)
    changed = dataclasses.replace(request, **{name: data.draw(FIELDS[name])})
    equal = cache_key(IDENTITY, PARAMETERS, request) == cache_key(IDENTITY, PARAMETERS, changed)
    assert equal == (sent(request) == sent(changed))


@given(requests, content)
def test_who_asked_and_whether_again_changes_no_key(request: ModelRequest, role: str) -> None:
    other = dataclasses.replace(request, role=role, repair=not request.repair)
    assert cache_key(IDENTITY, PARAMETERS, request) == cache_key(IDENTITY, PARAMETERS, other)


@given(settings, settings, requests)
def test_changing_who_replies_or_how_it_is_set_changes_the_key(
    one: dict[str, object], other: dict[str, object], request: ModelRequest
) -> None:
    same = repr(sorted(one.items())) == repr(sorted(other.items()))
    assert (cache_key(one, PARAMETERS, request) == cache_key(other, PARAMETERS, request)) == same
    assert (cache_key(IDENTITY, one, request) == cache_key(IDENTITY, other, request)) == same
    assert (cache_key(one, other, request) == cache_key(other, one, request)) == same


@pytest.mark.parametrize("name", IDENTITY)
def test_two_judges_two_endpoints_two_weights_have_two_keys(name: str) -> None:
    request = ModelRequest("p", "judge")
    assert cache_key(IDENTITY, PARAMETERS, request) != cache_key(IDENTITY | {name: "other"}, PARAMETERS, request)


@pytest.mark.parametrize("name", PARAMETERS)
def test_two_temperatures_two_seeds_have_two_keys(name: str) -> None:
    request = ModelRequest("p", "judge")
    assert cache_key(IDENTITY, PARAMETERS, request) != cache_key(IDENTITY, PARAMETERS | {name: 0.5}, request)


def test_the_order_of_settings_makes_no_difference_and_that_of_a_schema_does() -> None:
    request = ModelRequest("p", "judge", json_schema={"a": 1, "b": 2})
    backwards = dict(reversed(IDENTITY.items()))
    assert cache_key(IDENTITY, PARAMETERS, request) == cache_key(backwards, PARAMETERS, request)
    turned = dataclasses.replace(request, json_schema={"b": 2, "a": 1})
    assert cache_key(IDENTITY, PARAMETERS, request) != cache_key(IDENTITY, PARAMETERS, turned)


def test_a_text_is_no_conversation() -> None:
    text = json.dumps([["user", "hello"]])
    one = cache_key(IDENTITY, PARAMETERS, ModelRequest(text, "r"))
    assert one != cache_key(IDENTITY, PARAMETERS, ModelRequest((Message("user", "hello"),), "r"))


def test_the_key_is_the_same_in_every_process() -> None:
    request = ModelRequest((Message("user", "hello"),), "generate", sample=1)
    key = cache_key({"model": "m"}, {"seed": 0}, request)
    assert key == "61f41448eeb2d2a06ec6639e6204b7aa8d7e1e60b90f4da0da15c583064ec9b8"


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        cache_key({"model": object()}, {}, ModelRequest("p", "r"))
