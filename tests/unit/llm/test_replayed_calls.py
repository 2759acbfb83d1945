"""Calls through the reply cache and against the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.errors import BudgetError, ModelSetupError
from arena.llm.cache import ReplyCache
from arena.llm.client import LLMClient
from arena.llm.limits import Budget
from arena.protocols import Reply
from arena.types import PaidAttempt
from tests.unit.llm.asking import ask, ask_at_once, asking, scripted, with_model
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
LOGPROBS = {"content": [{"token": "ok", "bytes": list(b"ok"), "logprob": -0.5, "top_logprobs": []}]}


@pytest.fixture
def cache_file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


def settings(base_url: str, **values: Any) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def asked_again(chosen: LLMSettings, cache_file: Path, *fields: dict[str, Any], **options: Any) -> list[Reply]:
    """The replies to a request of each of `fields`, each by a new client over the same file."""
    replies = []
    for changed in fields:
        with ReplyCache(cache_file) as cache:
            replies += ask(chosen, asking(**changed), cache=cache, **options)
    return replies


def test_what_was_paid_is_not_asked_again(cache_file: Path) -> None:
    with serving(completion("ok", USAGE, logprobs=LOGPROBS)) as server:
        chosen = settings(server.base_url)
        first, again = asked_again(chosen, cache_file, {"alternatives": 1}, {"alternatives": 1})
    assert len(server.requests) == 1
    assert (first.call.replayed, again.call.replayed) == (False, True)
    assert (again.text, again.tokens, again.call.finish_reason) == (first.text, first.tokens, "stop")
    assert (again.call.input_tokens, again.call.output_tokens) == (11, 3)
    assert (again.call.queue_seconds, again.call.service_seconds, again.call.backoff_seconds) == (0.0, 0.0, 0.0)
    assert first.call.service_seconds > 0.0


def test_all_that_a_reply_took_is_replayed(cache_file: Path) -> None:
    """A question killed between its calls and asked again has the same sums as one that was not."""
    with serving(Play(reset=True), completion("ok", USAGE)) as server:
        first, again = asked_again(settings(server.base_url), cache_file, {}, {})
    assert len(first.call.attempts) == 2
    assert [(each.input_tokens, each.fault) for each in again.call.attempts] == [
        (each.input_tokens, each.fault) for each in first.call.attempts
    ]


def test_a_role_and_a_repair_share_a_reply_and_a_sample_does_not(cache_file: Path) -> None:
    fields: list[dict[str, Any]] = [{}, {"role": "grade", "repair": True}, {"sample": 1}, {"limit": 7}, {"room": 999}]
    with serving(completion("ok", USAGE)) as server:
        replies = asked_again(settings(server.base_url), cache_file, *fields)
    assert [reply.call.replayed for reply in replies] == [False, True, False, False, False]
    assert (replies[1].call.role, replies[1].call.repair) == ("grade", True)
    assert [request["seed"] for request in server.requests] == [0, 1, 0, 0]


@pytest.mark.parametrize("changed", [{"temperature": 0.5}, {"top_p": 0.5}, {"seed": 1}, {"max_tokens": 9}])
def test_other_settings_are_other_calls(changed: dict[str, Any], cache_file: Path) -> None:
    with serving(completion("ok", USAGE)) as server:
        asked_again(settings(server.base_url), cache_file, {})
        (reply,) = asked_again(settings(server.base_url, **changed), cache_file, {})
    assert not reply.call.replayed


def test_another_endpoint_is_another_model(cache_file: Path) -> None:
    with serving(completion("ok", USAGE)) as one, serving(completion("ok", USAGE)) as other:
        asked_again(settings(one.base_url), cache_file, {})
        (reply,) = asked_again(settings(other.base_url), cache_file, {})
    assert not reply.call.replayed


def test_another_script_under_the_same_name_is_another_model(tmp_path: Path, cache_file: Path) -> None:
    said = []
    for text in ("one", "two"):
        said += asked_again(scripted(tmp_path, {"rules": [{"reply": text}]}, cache=True), cache_file, {}, {})
    assert [reply.text for reply in said] == ["one", "one", "two", "two"]
    assert [reply.call.replayed for reply in said] == [False, True, False, True]


def test_a_resumed_client_that_has_not_met_the_refusal_hits_all_the_same(cache_file: Path) -> None:
    def react(request: dict[str, Any]) -> Play:
        return failure(400, "'seed' is not supported") if "seed" in request else completion("ok", USAGE)

    async def use(model: LLMClient) -> tuple[Reply, tuple[str, ...]]:
        return await model.complete(asking()), model.dropped

    with serving(reaction=react) as server:
        outcomes = []
        for _ in range(2):
            with ReplyCache(cache_file) as cache:
                outcomes.append(with_model(settings(server.base_url), use, cache=cache))
    assert len(server.requests) == 2
    assert [reply.call.replayed for reply, _ in outcomes] == [False, True]
    assert [(reply.call.dropped, dropped) for reply, dropped in outcomes] == [(("seed",), ("seed",))] * 2


def test_a_place_that_only_the_environment_shows_makes_another_call(
    cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("OPENAI_API_VERSION", "1")
    texts = []
    with serving(completion("one", USAGE)) as one, serving(completion("two", USAGE)) as two:
        for server in (one, two, one):
            monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.base_url.removesuffix("/v1"))
            (reply,) = asked_again(LLMSettings(model="azure_openai:gpt"), cache_file, {})
            texts.append((reply.text, reply.call.replayed))
    assert texts == [("one", False), ("two", False), ("one", True)]


def test_a_failed_call_is_not_kept(cache_file: Path) -> None:
    with serving(failure(400), completion("ok", USAGE)) as server:
        first, second = asked_again(settings(server.base_url), cache_file, {}, {})
    assert (first.text, second.text, second.call.replayed) == (None, "ok", False)


def test_equal_calls_at_the_same_time_are_paid_once(cache_file: Path) -> None:
    async def use(model: LLMClient) -> list[Reply]:
        return await ask_at_once(model, [asking()] * 5)

    with serving(Play(completion("ok", USAGE).body, delay_seconds=0.05)) as server, ReplyCache(cache_file) as cache:
        replies = with_model(settings(server.base_url), use, cache=cache)
    assert len(server.requests) == 1
    assert sorted(reply.call.replayed for reply in replies) == [False, True, True, True, True]


def test_without_a_cache_equal_calls_are_asked_each(tmp_path: Path) -> None:
    replies = ask(scripted(tmp_path, {"replies": ["one", "two"]}), times=2)
    assert [reply.text for reply in replies] == ["one", "two"]


@pytest.mark.parametrize(("chosen", "replayed"), [(None, False), (True, True), (False, False)])
def test_the_fake_is_kept_only_when_told(tmp_path: Path, cache_file: Path, chosen: bool | None, replayed: bool) -> None:
    _, again = asked_again(scripted(tmp_path, {}, cache=chosen), cache_file, {}, {})
    assert again.call.replayed is replayed


def test_a_server_is_not_kept_when_told(cache_file: Path) -> None:
    with serving(completion("ok", USAGE)) as server:
        _, again = asked_again(settings(server.base_url, cache=False), cache_file, {}, {})
    assert not again.call.replayed


def a_dollar_each(paid: PaidAttempt) -> float:
    return 1.0


def test_the_budget_is_charged_for_what_was_paid_and_asked_before_every_call(cache_file: Path) -> None:
    budget = Budget(None, 28, a_dollar_each)
    with serving(completion("ok", USAGE)) as server:
        chosen = settings(server.base_url)
        asked_again(chosen, cache_file, {}, {"sample": 1}, budget=budget)
        assert budget.spent.tokens == 28
        (replayed,) = asked_again(chosen, cache_file, {}, budget=budget)
        assert (replayed.call.replayed, budget.spent.tokens) == (True, 28)
        with pytest.raises(BudgetError, match="max_tokens 28"):
            asked_again(chosen, cache_file, {"sample": 2}, budget=budget)
    assert len(server.requests) == 2


def test_the_budget_is_charged_for_attempts_of_a_call_that_fails_or_stops_the_run() -> None:
    paid = completion("", {"prompt_tokens": 11, "completion_tokens": 1})
    budget = Budget(None, 100, a_dollar_each)
    with serving(paid, failure(400)) as server:
        (reply,) = ask(settings(server.base_url), budget=budget)
        assert reply.text is None
    with serving(paid, failure(401)) as server, pytest.raises(ModelSetupError):
        ask(settings(server.base_url), budget=budget)
    assert (budget.spent.tokens, budget.spent.usd) == (24, 4.0)
