"""A key goes into the header of a request, and nowhere else."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError, ProviderDownError, UserError
from arena.llm.cache import ReplyCache
from arena.llm.client import LLMClient
from arena.llm.remote import remote_access
from arena.protocols import ModelRequest
from tests.unit.llm.asking import asking, with_model
from tests.unit.llm.chat_server import Play, completion, continuation, failure, serving

CANARY = "sk-canary-4711"
USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)


def told(play: Play, cache: ReplyCache | None = None, **values: Any) -> str:
    """All that a conversation and a continuation on a server that answers with `play` leave to be seen."""

    async def use(model: LLMClient, request: ModelRequest) -> str:
        seen = [repr(model)]
        try:
            reply = await model.complete(request)
            seen += [repr(reply), str(reply.call.error)]
        except UserError as error:
            seen += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
        return "\n".join([*seen, repr(vars(model)), *model.dropped])

    with serving(play) as server:
        settings = {"model": "openai:served", "base_url": server.base_url, "api_key_variable": "MY_KEY"}
        # Where nothing is to time out, a busy machine is given the time to answer.
        defaults = {"max_attempts": 1, "timeout_seconds": 0.5 if play.silent else 300.0}
        chosen = LLMSettings.model_validate(settings | defaults | values)
        seen = [with_model(chosen, partial(use, request=one), cache=cache) for one in (asking(), asking("go on"))]
        assert server.keys == [f"Bearer {CANARY}"] * len(server.keys)
        assert len(server.requests) >= 2
    return "\n".join(seen)


@pytest.mark.parametrize(
    "play",
    [
        *(failure(status, f"bad key {CANARY}") for status in (400, 401, 402, 403, 404, 422, 429, 500, 503)),
        failure(400, f"'temperature' is not supported with key {CANARY}", param="temperature"),
        failure(429, f"pay, {CANARY}", code="insufficient_quota"),
        Play(reset=True),
        Play(b"{}", silent=True),
        Play(f'{{"choices": [{{"{CANARY}"'.encode()),
        Play(f'{{"error": {{"message": "{CANARY}"}}}}'.encode()),
        Play(f"<html>{CANARY}</html>".encode(), headers={"Content-Type": "text/html"}),
        completion("", USAGE),
        completion("ok", USAGE),
        continuation("ok", USAGE),
    ],
    ids=lambda play: f"{play.status} {play.body[:24]!r}",
)
def test_no_path_of_failure_shows_the_key(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "arena")
    seen = told(play)
    assert CANARY not in seen + caplog.text
    if CANARY.encode() in play.body and play.body.startswith(b'{"error"'):
        assert "[hidden]" in seen


def test_the_breaker_does_not_show_the_key() -> None:
    async def use(model: LLMClient) -> str:
        with pytest.raises(ProviderDownError) as caught:
            await model.complete(asking())
        return str(caught.value)

    with serving(failure(503, f"busy, {CANARY}")) as server:
        settings = LLMSettings(
            model="served", base_url=server.base_url, api_key_variable="MY_KEY", max_attempts=1, breaker_failures=1
        )
        message = with_model(settings, use)
    assert "busy, [hidden]" in message
    assert CANARY not in message


def test_the_cache_does_not_keep_the_key(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        assert CANARY not in told(completion("ok", USAGE), cache=cache)
    files = list(tmp_path.iterdir())
    assert files
    assert all(CANARY.encode() not in file.read_bytes() for file in files)


def test_a_key_that_a_package_found_itself_is_known_and_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://azure.invalid")
    monkeypatch.setenv("OPENAI_API_VERSION", "1")
    access = remote_access(LLMSettings(model="azure_openai:gpt"))
    assert access.secrets == (CANARY,)
    assert CANARY not in repr(access)


def test_a_package_that_cannot_be_opened_does_not_show_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", CANARY)
    with pytest.raises(ModelSetupError, match="'azure_openai:gpt' cannot be opened") as caught:
        remote_access(LLMSettings(model="azure_openai:gpt", api_key_variable="MY_KEY"))
    assert CANARY not in f"{caught.value} {caught.value!r} {caught.value.__context__!r}"
