from __future__ import annotations

from typing import Any

import pytest

from arena.llm.parameters import Parameters
from arena.llm.wire import Dialect, beside_messages, completion_body

SCHEMA = {
    "title": "Verdict of a judge",
    "type": "object",
    "$defs": {"default": {"type": "object", "properties": {"x": {"type": "integer", "default": 3}}}},
    "properties": {
        "default": {"type": "string", "default": "a"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/default"}},
    },
    "required": ["parts"],
}
STRICT = {
    "title": "Verdict of a judge",
    "type": "object",
    "$defs": {
        "default": {
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": False,
        }
    },
    "properties": {"default": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/default"}}},
    "required": ["default", "parts"],
    "additionalProperties": False,
}
NATIVE = {
    "type": "json_schema",
    "json_schema": {"name": "Verdict_of_a_judge", "strict": True, "schema": STRICT},
}


@pytest.mark.parametrize(
    ("dialect", "parameters", "sent"),
    [
        (Dialect(), Parameters(temperature=0.5, max_tokens=3), {}),
        (Dialect(), Parameters(stop=("\n",)), {"stop": ["\n"]}),
        (Dialect(), Parameters(alternatives=5), {"logprobs": True, "top_logprobs": 5}),
        (Dialect(), Parameters(form="json_schema"), {"response_format": NATIVE}),
        (Dialect(), Parameters(form="json_mode"), {"response_format": {"type": "json_object"}}),
        (Dialect(schema="extra_body"), Parameters(form="json_schema"), {"extra_body": {"response_format": NATIVE}}),
        (Dialect(schema="ollama"), Parameters(form="json_schema"), {"format": SCHEMA}),
        (Dialect(schema="ollama"), Parameters(form="json_mode"), {"format": "json"}),
        (Dialect(schema=None), Parameters(form="json_schema"), {}),
        (
            Dialect(other_limit="max_completion_tokens"),
            Parameters(max_tokens=7, other_limit_name=True),
            {"extra_body": {"max_completion_tokens": 7}},
        ),
    ],
)
def test_what_goes_beside_the_messages(dialect: Dialect, parameters: Parameters, sent: dict[str, Any]) -> None:
    assert beside_messages(dialect, parameters, SCHEMA) == sent


def test_a_completion_carries_what_is_set_and_no_more() -> None:
    assert completion_body(Parameters()) == {}
    assert completion_body(Parameters(0.0, None, 0, 9, ("\n",), 3, special_tokens=True)) == {
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 9,
        "stop": ["\n"],
        "logprobs": 3,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }
    assert completion_body(Parameters(max_tokens=9, other_limit_name=True)) == {"max_completion_tokens": 9}
