"""The fake as a LangChain model: what it understands of a call, without the gate around it."""

from __future__ import annotations

import json
import math
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from arena.llm.fake.chat import FakeChat, FakeCompletions
from arena.llm.fake.script import Script

JUDGE = "Passage:\n[1] Oster: The mayor of Oster is Ida Brandt.\n\nQuestion: {}\nDoes it help?\nReply with one of: {}"


class Verdict(BaseModel):
    reason: str
    yes: bool


def chat(script: dict[str, Any] | None = None, **values: Any) -> FakeChat:
    return FakeChat(Script.model_validate(script or {}), **values)


def invoke(model: FakeChat, prompt: str, **parameters: Any) -> AIMessage:
    return anyio.run(lambda: model.ainvoke([("user", prompt)], **parameters))


def tokens(reply: AIMessage) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = reply.response_metadata["logprobs"]["content"]
    return content


def test_a_script_without_spaces_is_counted_by_its_characters() -> None:
    """Or a dry run prices a Chinese corpus some hundred times too low."""
    plain, chinese = (invoke(chat(), text).usage_metadata for text in ("a b c", "建造钟楼的人"))
    assert plain is not None
    assert chinese is not None
    assert chinese["input_tokens"] - plain["input_tokens"] == 3


def test_without_asking_there_are_no_log_probabilities() -> None:
    assert "logprobs" not in invoke(chat(), "hello").response_metadata


def test_tokens_are_words_that_add_up_to_the_text() -> None:
    reply = invoke(chat({"rules": [{"reply": "a  b\nc "}]}), "hello", logprobs=True, top_logprobs=2)
    assert [token["token"] for token in tokens(reply)] == ["a", "  b", "\nc "]
    assert all(math.exp(token["logprob"]) == pytest.approx(0.9) for token in tokens(reply))
    assert all(token["top_logprobs"][0]["token"] == token["token"] for token in tokens(reply))
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_tokens"] == 3


def test_a_rule_scripts_the_probabilities_of_the_first_word() -> None:
    model = chat({"rules": [{"probabilities": {"no": 0.2, "yes": 0.7, "maybe": 0.1}}]})
    reply = invoke(model, "hello", logprobs=True, top_logprobs=2)
    assert reply.text == "yes"
    (first,) = tokens(reply)
    assert math.exp(first["logprob"]) == pytest.approx(0.7)
    listed = {top["token"]: math.exp(top["logprob"]) for top in first["top_logprobs"]}
    assert listed == pytest.approx({"yes": 0.7, "no": 0.2})


def test_a_reply_may_be_the_less_likely_word() -> None:
    model = chat({"rules": [{"reply": "no way", "probabilities": {"no": 0.2, "yes": 0.8}}]})
    reply = invoke(model, "hello", logprobs=True, top_logprobs=5)
    assert reply.text == "no way"
    assert math.exp(tokens(reply)[0]["logprob"]) == pytest.approx(0.2)


def test_a_reply_ends_before_the_stop() -> None:
    reply = invoke(chat({"rules": [{"reply": "one two. three"}]}), "hello", stop=[" three", "."])
    assert reply.text == "one two"
    assert reply.response_metadata["finish_reason"] == "stop"


def test_the_bound_of_a_call_goes_before_the_models_own() -> None:
    model = chat({"rules": [{"reply": "a b c d"}]}, max_tokens=3)
    assert invoke(model, "hello").text == "a b c"
    reply = invoke(model, "hello", max_tokens=2)
    assert (reply.text, reply.response_metadata["finish_reason"]) == ("a b", "length")


@pytest.mark.parametrize(
    ("question", "labels", "label"),
    [
        ("Who is the mayor of Oster?", "yes, no", "yes"),
        ("Why do zebras sleep?", "yes, no", "no"),
        ("Is the mayor of Zebra asleep today?", "fully, partially, no", "partially"),
        ("Why do zebras sleep?", "5, 4, 3, 2, 1.", "1"),
    ],
)
def test_a_judgement_goes_by_the_words_in_common(question: str, labels: str, label: str) -> None:
    reply = invoke(chat(), JUDGE.format(question, labels), logprobs=True, top_logprobs=20)
    assert reply.text == label
    (first,) = tokens(reply)
    listed = {top["token"]: math.exp(top["logprob"]) for top in first["top_logprobs"]}
    assert sum(listed.values()) == pytest.approx(1.0)
    assert max(listed, key=listed.__getitem__) == label
    assert next(iter(listed)) == label


def test_what_is_judged_is_the_last_captioned_line() -> None:
    shown = "[1] Oster: The mayor of Oster is Ida Brandt."
    prompt = f"{shown}\n\nQuestion: Why do zebras sleep?\nClaim: {{}}\nReply with one of: a, b"
    assert invoke(chat(), prompt.format("Ida Brandt is mayor of Oster.")).text == "a"
    assert invoke(chat(), prompt.format("Zebras sleep standing.")).text == "b"


def test_without_passages_the_first_label_is_chosen() -> None:
    assert invoke(chat(), "Question: Why do zebras sleep?\nReply with one of: yes, no").text == "yes"
    repair = "That is none of the labels. Reply with one of them and nothing else: no, yes"
    assert invoke(chat(), repair).text == "no"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why do zebras sleep?", "A"),
        ("Which mayor of Oster signed the zebra treaty?", "B"),
        ("Which river flows through the town where the mayor of Oster signed the zebra treaty with Ida Brandt?", "C"),
    ],
)
def test_without_passages_letters_are_kinds_from_simple_to_complex(question: str, kind: str) -> None:
    assert invoke(chat(), f"Question: {question}\nReply with one of: A, B, C").text == kind


def test_a_form_is_filled_in() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "v", "schema": Verdict.model_json_schema()}}
    prompt = "[1] Oster: The mayor of Oster is Ida Brandt.\n\nQuestion: Who is the mayor of Oster?"
    filled = Verdict.model_validate_json(invoke(chat(), prompt, response_format=wanted).text)
    assert filled == Verdict(reason="Ida Brandt", yes=True)


def test_in_json_mode_the_schema_is_read_from_the_prompt() -> None:
    prompt = f"Judge it.\nKeep this schema:\n{json.dumps(Verdict.model_json_schema())}"
    for parameters in ({"response_format": {"type": "json_object"}}, {}):
        Verdict.model_validate_json(invoke(chat(), prompt, **parameters).text)
    assert invoke(chat(), "Judge it.", response_format={"type": "json_object"}).text == "{}"


def test_a_rule_goes_before_the_form() -> None:
    model = chat({"rules": [{"reply": "no form"}]})
    assert invoke(model, "hello", response_format={"type": "json_object"}).text == "no form"


def test_a_text_is_continued() -> None:
    model = chat({"rules": [{"when": r"\[Retrieval\]$", "reply": "<p> a b c"}]}, max_tokens=50)

    body = {"max_tokens": 3, "stop": ["c"], "logprobs": 1, "temperature": 0.0}
    reply = anyio.run(FakeCompletions(model), "Q? [Retrieval]", body)
    (choice,) = reply["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("<p> a b ", "stop")
    assert [token["token"] for token in choice["logprobs"]["content"]] == ["<p>", " a", " b "]
    assert reply["usage"] == {"prompt_tokens": 2, "completion_tokens": 3}


def test_it_answers_without_an_event_loop_too() -> None:
    assert chat({"rules": [{"reply": "yes", "latency_seconds": 60}]}).invoke("hello").text == "yes"


@given(st.text(), st.booleans())
def test_any_prompt_is_answered_the_same_twice(prompt: str, wanted: bool) -> None:
    one, other = (invoke(chat(), prompt, logprobs=wanted, top_logprobs=3 if wanted else None) for _ in range(2))
    assert (one.text, one.response_metadata) == (other.text, other.response_metadata)
