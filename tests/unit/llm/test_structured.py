from __future__ import annotations

import json
from typing import Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from arena.errors import UnreadableReplyError
from arena.llm.ledger import Ledger
from arena.llm.structured import read_object, schema_turns
from arena.protocols import Message
from arena.types import well_formed
from tests.unit.llm.scripted_model import ScriptedModel, saying

MESSAGES = (Message("system", "Be exact."), Message("user", "Plan the search."))


class Plan(BaseModel):
    """What to look up."""

    model_config = ConfigDict(extra="forbid")

    title: str
    queries: list[str] = Field(default_factory=list, description="At most three.")
    depth: Literal["one", "many"] = "one"


TEXT = st.text(st.characters(codec="utf-8"))
PLANS = st.builds(Plan, title=TEXT, queries=st.lists(TEXT), depth=st.sampled_from(["one", "many"]))
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{<"))
FORMS = st.sampled_from(["{}", "```json\n{}\n```", "\n\n{}.", "Here: {} - as asked"])


@given(PROSE, st.lists(PLANS, min_size=1, max_size=3), FORMS, PROSE, st.sampled_from([None, 2]))
def test_the_last_object_is_found_in_any_prose(
    before: str, plans: list[Plan], form: str, after: str, indent: int | None
) -> None:
    written = (form.replace("{}", plan.model_dump_json(indent=indent)) for plan in plans)
    text = before + "\nNo, better:\n".join(written) + after
    assert read_object(text, Plan).value == plans[-1]


@given(st.text() | st.text('{}[]":,\\ ntu0123456789.e-<think>/', max_size=60))
def test_garbage_is_a_problem_and_nothing_worse(text: str) -> None:
    reading = read_object(text, Plan)
    assert (reading.value is None) != (reading.problem is None)


@pytest.mark.parametrize(
    "text",
    [
        '{"title":' * 50_000,
        "[" * 50_000 + '{"title":' * 50_000,
        "{" * 50_000,
        '{"title":"' * 20_000,
        '{"title": ' + "9" * 10_000 + "}",
        '{"title": "x", "queries": ' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=["nested", "deeper", "braces", "strings", "digits", "lists"],
)
def test_hostile_garbage_is_read_at_once(text: str) -> None:
    assert read_object(text, Plan).value is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"title": "a"} no: {"title": "b"}', "b"),
        ('{"title": "a"} and a remark {"note": 1}', "a"),
        ('{"title": "a", wait, again {"title": "b"}', "b"),
        ('use {braces}: {"title": "}{\\"\\\\"}', '}{"\\'),
        ('[{"title": "a"}, {"title": "b"}]', "b"),
        ('<think>{"title": "a"}</think>{"title": "b"}', "b"),
        ('{"title": "two\nlines"}', "two\nlines"),
        ('{"title": "a"} <think>{"title": "b"}', "a"),
    ],
)
def test_by_hand(text: str, title: str) -> None:
    value = read_object(text, Plan).value
    assert value is not None
    assert value.title == title


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it holds no complete JSON object"),
        ('{"plan": {"title": "a"}}', "title: Field required; plan: Extra inputs are not permitted"),
        ('{"title": "a", "queries": [{"title": "b"}', "it holds no complete JSON object"),
        ('{"title": 5}', "title: Input should be a valid string"),
        ('{"title": "a", "queries": ["b", 1]}', "queries.1: Input should be a valid string"),
    ],
)
def test_a_problem_is_told_in_one_line(text: str, problem: str) -> None:
    assert read_object(text, Plan).problem == problem


@given(TEXT)
def test_an_escaped_text_comes_back(text: str) -> None:
    value = read_object(json.dumps({"title": text}), Plan).value
    assert value is not None
    assert value.title == text == well_formed(text)


def test_the_schema_is_at_the_end_of_the_last_turn_without_idle_titles() -> None:
    system, user = schema_turns(MESSAGES, Plan)
    assert system == MESSAGES[0]
    prompt, _, schema = user.content.rpartition("\n")
    assert prompt.startswith("Plan the search.\n\nReply with one JSON object")
    assert json.loads(schema) == {
        "type": "object",
        "description": "What to look up.",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": "string"},
            "queries": {"type": "array", "items": {"type": "string"}, "description": "At most three."},
            "depth": {"type": "string", "enum": ["one", "many"], "default": "one"},
        },
    }


def asked(model: ScriptedModel) -> tuple[Ledger, Plan]:
    ledger = Ledger(model, lambda: 0.0)

    async def main() -> Plan:
        return await ledger.ask(MESSAGES, Plan, role="plan")

    return ledger, anyio.run(main)


def test_the_gate_is_given_the_schema() -> None:
    model = ScriptedModel([saying('{"title": "a"}')])
    ledger, plan = asked(model)
    assert plan == Plan(title="a")
    assert model.requests[0].json_schema == Plan.model_json_schema()
    assert [(call.role, call.repair) for call in ledger.calls] == [("plan", False)]


def test_messages_that_state_the_form_are_sent_as_they_are_and_a_sample_is_asked_for_by_its_number() -> None:
    model = ScriptedModel([saying("nothing"), saying('{"title": "a"}')])
    ledger = Ledger(model, lambda: 0.0)

    async def main() -> Plan:
        return await ledger.ask(MESSAGES, Plan, role="plan", sample=3, form_stated=True)

    assert anyio.run(main) == Plan(title="a")
    assert model.requests[0].prompt == MESSAGES
    assert [request.sample for request in model.requests] == [3, 3]


def test_one_repair_turn_says_what_is_wrong() -> None:
    model = ScriptedModel([saying('<think>hm</think>{"title": 5}'), saying('{"title": "five"}')])
    ledger, plan = asked(model)
    assert plan == Plan(title="five")
    assert [(call.role, call.repair, call.input_tokens) for call in ledger.calls] == [
        ("plan", False, 7),
        ("plan", True, 7),
    ]
    first, second = model.requests
    assert second.prompt[: len(first.prompt)] == first.prompt
    assert second.prompt[-2] == Message("assistant", '{"title": 5}')
    assert "title: Input should be a valid string" in model.said_last
    assert second.json_schema == first.json_schema


def test_a_reply_that_was_cut_off_is_told_so() -> None:
    model = ScriptedModel([saying('{"title": "a', finish_reason="length"), saying('{"title": "a"}')])
    asked(model)
    assert "no complete JSON object; the reply was cut off at the token limit" in model.said_last


def test_after_the_repair_turn_it_is_a_failure_that_carries_the_text() -> None:
    model = ScriptedModel([saying("no"), saying("still no")])
    ledger = Ledger(model, lambda: 0.0)
    with pytest.raises(UnreadableReplyError, match=r"role 'plan': no reply is a Plan.*no complete JSON") as caught:
        anyio.run(lambda: ledger.ask(MESSAGES, Plan, role="plan"))
    assert caught.value.raw == "still no"
    assert [call.repair for call in ledger.calls] == [False, True]


def test_an_empty_reply_does_not_make_an_empty_turn() -> None:
    model = ScriptedModel([saying(""), saying('{"title": "a"}')])
    asked(model)
    assert model.requests[1].prompt[-2] == Message("assistant", "(nothing)")
