"""Log-probabilities and continuations, the whole way from a server."""

from __future__ import annotations

from typing import Any

import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.protocols import TokenChoice
from tests.unit.llm.asking import ask, asking
from tests.unit.llm.chat_server import Play, completion, continuation, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
LLAMA_CPP = {
    "content": [
        {
            "token": "[Relevant]",
            "bytes": list(b"[Relevant]"),
            "logprob": -0.5,
            "top_logprobs": [{"token": "[Relevant]", "logprob": -0.5}, {"token": "[Irrelevant]", "logprob": -1.0}],
        },
        {"token": " Paris", "bytes": list(b" Paris"), "logprob": -0.1, "top_logprobs": []},
    ]
}
CLASSIC = {
    "tokens": ["[Relevant]", " Paris"],
    "token_logprobs": [-0.5, -0.1],
    "top_logprobs": [{"[Relevant]": -0.5, "[Irrelevant]": -1.0}, {}],
}
TOKENS = (
    TokenChoice("[Relevant]", -0.5, {"[Relevant]": -0.5, "[Irrelevant]": -1.0}),
    TokenChoice(" Paris", -0.1, {}),
)


def settings(base_url: str, **values: Any) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def test_alternatives_are_asked_for_and_read() -> None:
    with serving(completion("[Relevant] Paris", USAGE, logprobs=LLAMA_CPP)) as server:
        (reply,) = ask(settings(server.base_url), asking(alternatives=7))
    (sent,) = server.requests
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 7)
    assert reply.tokens == TOKENS


def test_no_more_are_asked_for_than_openai_gives() -> None:
    with serving(completion("ok", USAGE)) as server:
        (reply,) = ask(settings(server.base_url), asking(alternatives=50))
    assert server.requests[0]["top_logprobs"] == 20
    assert reply.tokens == ()


def test_tokens_of_reasoning_are_not_the_replys() -> None:
    words = ["<think>", "Paris", "</think>", "\n", "Paris", "<|im_end|>"]
    logprobs = {"content": [{"token": word, "bytes": list(word.encode()), "logprob": -0.1} for word in words]}
    with serving(completion("Paris", USAGE, logprobs=logprobs)) as server:
        (reply,) = ask(settings(server.base_url), asking(alternatives=1))
    assert reply.tokens == (TokenChoice("Paris", -0.1, {}),)


@pytest.mark.parametrize("logprobs", [CLASSIC, LLAMA_CPP], ids=["classic", "llama.cpp"])
def test_a_text_is_continued(logprobs: dict[str, Any]) -> None:
    with serving(continuation("[Relevant] Paris", USAGE, logprobs)) as server:
        request = asking("The capital is", alternatives=5, limit=9, stop=("\n",), sample=2)
        (reply,) = ask(settings(server.base_url, temperature=0.5), request)
    assert server.paths == ["/v1/completions"]
    assert server.requests == [
        {
            "model": "served",
            "prompt": "The capital is",
            "max_tokens": 9,
            "temperature": 0.5,
            "seed": 2,
            "stop": ["\n"],
            "logprobs": 5,
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
        }
    ]
    assert (reply.text, reply.tokens) == ("[Relevant] Paris", TOKENS)
    assert (reply.call.input_tokens, reply.call.output_tokens, reply.call.finish_reason) == (11, 3, "stop")


def test_a_continuation_may_be_empty() -> None:
    with serving(continuation("", USAGE | {"completion_tokens": 0})) as server:
        (reply,) = ask(settings(server.base_url), asking("The end."))
    assert (reply.text, reply.call.output_tokens, len(server.requests)) == ("", 0, 1)


def test_a_server_that_knows_no_special_tokens_is_asked_without() -> None:
    def react(request: dict[str, Any]) -> Play:
        strange = "skip_special_tokens" in request
        return failure(400, "unknown field: skip_special_tokens") if strange else continuation("on", USAGE)

    with serving(reaction=react) as server:
        (reply,) = ask(settings(server.base_url), asking("go"))
    assert (reply.text, reply.call.dropped) == ("on", ("special_tokens",))


@pytest.mark.parametrize(
    "body",
    [b"{}", b'{"choices": []}', b'{"choices": [null]}', b'{"choices": [{"text": ["on"]}]}'],
)
def test_a_body_without_a_continuation_is_a_failed_call_of_unknown_cost(body: bytes) -> None:
    with serving(Play(body)) as server:
        (reply,) = ask(settings(server.base_url), asking("go"))
    assert reply.text is None
    assert reply.call.error is not None
    assert reply.call.error in ("the reply has no choice", "the continuation is a list and no text")
    assert reply.call.input_tokens is None


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many"}])
def test_counts_that_are_left_out_are_unknown(usage: dict[str, Any] | None) -> None:
    with serving(continuation("on", usage)) as server:
        (reply,) = ask(settings(server.base_url), asking("go"))
    assert (reply.call.input_tokens, reply.call.output_tokens) == (None, None)


def test_a_provider_of_conversations_cannot_continue_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    with serving() as server:
        chosen = LLMSettings(model="azure_openai:gpt", base_url=None)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-canary")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.base_url)
        monkeypatch.setenv("OPENAI_API_VERSION", "1")
        with pytest.raises(ModelSetupError, match=r"'azure_openai:gpt' cannot continue a text"):
            ask(chosen, asking("go"))
    assert server.requests == []
