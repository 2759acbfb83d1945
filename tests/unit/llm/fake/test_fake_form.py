from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from arena.llm.fake.replies import asked_schema, filled_form


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Step(BaseModel):
    query: str
    note: str = "left out"
    sub: list[Step] = Field(default_factory=list)


class Form(BaseModel):
    colour: Colour
    label: Literal["yes", "no"]
    always: Literal["x"]
    steps: list[Step]
    pair: tuple[int, str]
    few: Annotated[list[str], Field(min_length=2, max_length=3)]
    none: Annotated[list[str], Field(max_length=0)]
    maybe: str | None
    nothing: None
    done: bool
    score: Annotated[float, Field(gt=0, lt=0.4)]
    rank: Annotated[int, Field(ge=1, le=5)]
    below: Annotated[int, Field(le=-3)]
    short: Annotated[str, Field(max_length=3)]
    long: Annotated[str, Field(min_length=12)]
    anything: Any
    named: dict[str, int]


def test_the_smallest_form_that_the_schema_allows() -> None:
    filled = filled_form(Form.model_json_schema(), "a word")
    form = Form.model_validate_json(filled)
    assert form.colour is Colour.RED
    assert (form.label, form.always, form.done, form.maybe) == ("yes", "x", True, "a word")
    assert form.steps == [Step(query="a word")]
    assert (form.few, form.none, form.named) == (["a word", "a word"], [], {})
    assert (form.rank, form.below, form.score) == (1, -3, 1e-6)
    assert (form.short, form.long) == ("a w", "a word......")
    assert "note" not in filled


def test_a_schema_that_holds_itself_comes_to_an_end() -> None:
    class Tree(BaseModel):
        children: list[Tree]

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    Tree.model_validate_json(filled_form(Tree.model_json_schema(), ""))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "t"),
        ({"type": ["string", "null"]}, "t"),
        ({"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "null"}}}]}, {"a": None}),
        ({"oneOf": [{"type": "integer", "exclusiveMinimum": 4}, {"type": "null"}]}, 5),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"const": 3}}}, 3),
        ({"$ref": "#"}, None),
        ({"type": "object", "required": ["a"]}, {"a": "t"}),
    ],
)
def test_every_kind_of_schema_has_a_value(schema: dict[str, Any], value: object) -> None:
    assert json.loads(filled_form(schema, "t")) == value


def test_the_schema_of_the_response_format_goes_before_that_of_the_prompt() -> None:
    line = json.dumps({"type": "object"})
    given = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "string"}}}
    assert asked_schema([f"Keep:\n{line}"], given) == {"type": "string"}
    assert asked_schema([f"Keep:\n{line}", "and once more"], None) == {"type": "object"}
    assert asked_schema(["no form", "{not json", '{"a": 1}', "[1]"], None) is None
