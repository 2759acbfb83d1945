from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from arena.errors import ModelSetupError
from arena.llm.fake.chat import FakeChat
from arena.llm.fake.script import FAULTS, FaultDraw, FaultRates, Script, read_script

EACH = dict.fromkeys(FAULTS, 0.05)


def chat(fault: str, **script: Any) -> FakeChat:
    return FakeChat(Script.model_validate({"faults": {fault: 1.0}, **script}))


def invoke(model: FakeChat, prompt: str = "hello there", **parameters: Any) -> AIMessage:
    return anyio.run(lambda: model.ainvoke([("user", prompt)], **parameters))


def met(model: FakeChat, prompts: Sequence[str], concurrency: int) -> list[str]:
    """What each prompt met, asked so many at once; the slots go to whoever comes first."""
    found = [""] * len(prompts)

    async def run() -> None:
        slots = anyio.CapacityLimiter(concurrency)

        async def one(place: int) -> None:
            async with slots:
                try:
                    reply = await model.ainvoke(prompts[place])
                    found[place] = f"{reply.text} {reply.response_metadata} {reply.usage_metadata}"
                except Exception as error:  # noqa: BLE001  whatever it is, it is what was met
                    found[place] = repr(error)

        async with anyio.create_task_group() as group:
            for place in random.Random(concurrency).sample(range(len(prompts)), len(prompts)):
                group.start_soon(one, place)

    anyio.run(run)
    return found


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        ("rate_limit", 429, {}),
        ("rate_limit_retry_after", 429, {"retry-after": "1"}),
        ("server_error", 500, {}),
    ],
)
def test_a_status(fault: str, status: int, headers: dict[str, str]) -> None:
    with pytest.raises(httpx.HTTPStatusError) as caught:
        invoke(chat(fault))
    assert caught.value.response.status_code == status
    assert dict(caught.value.response.headers) == headers


def test_retry_after_says_what_the_script_says() -> None:
    rates = {"rate_limit_retry_after": 1.0, "retry_after_seconds": 0.25}
    with pytest.raises(httpx.HTTPStatusError) as caught:
        invoke(FakeChat(Script.model_validate({"faults": rates})))
    assert caught.value.response.headers["retry-after"] == "0.25"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("timeout", httpx.ReadTimeout), ("reset", httpx.ReadError), ("malformed_json", json.JSONDecodeError)],
)
def test_a_response_that_never_comes_whole(fault: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        invoke(chat(fault))


def test_a_form_is_malformed_where_one_is_asked_for() -> None:
    reply = invoke(
        chat("malformed_json", rules=[{"reply": '{"a": {"b": 1}}\n'}]), response_format={"type": "json_object"}
    )
    assert reply.text == '{"a": {"b": 1}'
    assert reply.usage_metadata is not None


@pytest.mark.parametrize(("said", "left"), [("a b c d", "a b"), ("one", "one"), ("a  b c", "a")])
def test_a_truncated_reply_looks_cut_by_the_token_bound(said: str, left: str) -> None:
    reply = invoke(chat("truncated", rules=[{"reply": said}]))
    assert (reply.text, reply.response_metadata["finish_reason"]) == (left, "length")
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_tokens"] == len(left.split())


def test_an_empty_reply_and_a_refusal_are_counted() -> None:
    empty, refusal = (invoke(chat(fault, rules=[{"reply": "a b"}])) for fault in ("empty", "refusal"))
    assert (empty.text, refusal.response_metadata["finish_reason"]) == ("", "refusal")
    assert empty.usage_metadata == {"input_tokens": 2, "output_tokens": 0, "total_tokens": 2}
    assert refusal.text.startswith("Sorry")
    assert refusal.usage_metadata is not None
    assert refusal.usage_metadata["output_tokens"] == len(refusal.text.split())


def test_a_good_reply_may_lack_its_counts() -> None:
    reply = invoke(chat("no_usage", rules=[{"reply": "a b"}]))
    assert (reply.text, reply.usage_metadata) == ("a b", None)


def test_a_refused_request_uses_up_no_reply() -> None:
    script = {"faults": {"rate_limit": 0.5}, "replies": [str(number) for number in range(20)]}
    model = FakeChat(Script.model_validate(script))
    prompts = [f"prompt {number}" for number in range(20)]
    replied = [one.split()[0] for one in met(model, prompts, 1) if "too many requests" not in one]
    assert 0 < len(replied) < 20
    assert sorted(replied, key=int) == [str(number) for number in range(len(replied))]


def test_every_fault_comes_about_as_often_as_asked() -> None:
    draw = FaultDraw(FaultRates.model_validate(EACH), seed=3)
    drawn = Counter(draw.draw(f"call {number}") for number in range(20_000))
    assert drawn[None] / 20_000 == pytest.approx(0.5, abs=0.02)
    for name in FAULTS:
        assert drawn[name] / 20_000 == pytest.approx(0.05, abs=0.008)


def test_a_call_that_is_asked_again_may_pass() -> None:
    draw = FaultDraw(FaultRates(timeout=0.5), seed=0)
    assert {draw.draw("the same call") for _ in range(40)} == {None, "timeout"}


def test_another_seed_meets_other_faults() -> None:
    def drawn(seed: int) -> list[str | None]:
        draw = FaultDraw(FaultRates(timeout=0.5), seed)
        return [draw.draw(str(number)) for number in range(40)]

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)


@given(st.integers(0, 99), st.permutations(range(30)))
def test_the_order_of_other_calls_makes_no_difference(seed: int, order: list[int]) -> None:
    def drawn(numbers: Sequence[int]) -> Counter[tuple[int, str | None]]:
        draw = FaultDraw(FaultRates.model_validate(EACH), seed)
        return Counter((number % 10, draw.draw(str(number % 10))) for number in numbers)

    assert drawn(range(30)) == drawn(order)


def test_faults_are_the_same_at_any_concurrency() -> None:
    prompts = [f"prompt {number}" for number in range(200)]
    script = Script.model_validate({"faults": EACH, "seed": 5, "latency_seconds": 0.001})
    alone = met(FakeChat(script), prompts, 1)
    assert len({one.split("(")[0] for one in alone}) >= 4
    assert met(FakeChat(script), prompts, 16) == alone


def test_other_parameters_make_another_call() -> None:
    model = FakeChat(Script.model_validate({"faults": {"empty": 0.5}, "rules": [{"reply": "x"}]}))
    asked = [invoke(model.model_copy(update={"seed": seed})).text for seed in range(30)]
    assert set(asked) == {"", "x"}


def tally_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_everything_handed_out_is_tallied(tmp_path: Path) -> None:
    rules = [
        {"when": "late", "error": "timeout"},
        {"when": "full", "error": 503},
        {"when": "gate", "error": 504},
        {"when": "silent", "reply": "a", "usage": False},
        {"reply": "a b c"},
    ]
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"rules": rules, "tally": "tally.jsonl"}), encoding="utf-8")
    model = FakeChat(read_script(path))
    met(model, ["good one", "late", "full", "gate", "silent", "good one"], 1)
    lines = tally_of(tmp_path / "tally.jsonl")
    assert sorted((str(line["input_tokens"]), str(line["output_tokens"]), str(line["fault"])) for line in lines) == [
        ("0", "0", "503"),
        ("2", "3", "None"),
        ("2", "3", "None"),
        ("None", "None", "504"),
        ("None", "None", "None"),
        ("None", "None", "timeout"),
    ]
    assert len({line["prompt"] for line in lines}) == len({line["call"] for line in lines}) == 5


def test_drawn_faults_are_tallied_by_name(tmp_path: Path) -> None:
    script = Script.model_validate({"faults": EACH, "tally": tmp_path / "tally.jsonl", "rules": [{"reply": "a b"}]})
    met(FakeChat(script), [f"prompt {number}" for number in range(200)], 8)
    lines = tally_of(tmp_path / "tally.jsonl")
    assert len(lines) == 200
    told = {str(line["fault"]): (line["input_tokens"], line["output_tokens"]) for line in lines}
    assert told == {
        "None": (2, 2),
        **dict.fromkeys(("rate_limit", "rate_limit_retry_after", "server_error"), (0, 0)),
        **dict.fromkeys(("timeout", "reset", "malformed_json", "no_usage"), (None, None)),
        "truncated": (2, 1),
        "empty": (2, 0),
        "refusal": (2, 8),
    }


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("faults: {timeout: 1.1}", r"faults\.timeout"),
        ("faults: {flood: 0.1}", r"faults\.flood"),
        ("faults: {timeout: 0.6, reset: 0.6}", r"faults: the rates add up to more than 1"),
        ("faults: {retry_after_seconds: -1}", r"faults\.retry_after_seconds"),
        ("seed: x", "seed"),
    ],
)
def test_a_malformed_script_names_the_field(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelSetupError, match=rf"broken\.yaml.*{told}"):
        read_script(path)
