"""Every attempt is written down before its reply is used, and whatever ends it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from arena.config import LLMSettings
from arena.errors import RunStoreError
from arena.llm.cache import CachedReply, ReplyCache
from arena.llm.client import LLMClient
from arena.llm.limits import Budget
from arena.llm.metering import GIVEN_UP, prompt_sha
from arena.types import PaidAttempt
from tests.unit.llm.asking import HELLO, ask, asking, with_model
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 3,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


class Killed(BaseException):
    """Stands for a kill at this very place."""


class DyingCache(ReplyCache):
    def put(self, key: str, reply: CachedReply) -> None:
        raise Killed


Bill = tuple[Budget, list[PaidAttempt]]


@pytest.fixture
def bill() -> Iterator[Bill]:
    """A budget, and what it has written down."""
    budget, written = Budget(), list[PaidAttempt]()
    with budget.written_ahead(written.append):
        yield budget, written


def settings(base_url: str, **values: Any) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def test_a_reply_is_on_the_bill_before_anything_is_done_with_it(tmp_path: Path, bill: Bill) -> None:
    budget, written = bill
    path = tmp_path / "replies.sqlite"
    with serving(completion("ok", USAGE)) as server:
        with DyingCache(path) as cache, pytest.raises(Killed):
            ask(settings(server.base_url), cache=cache, budget=budget)
        (paid,) = written
        assert (paid.purpose, paid.model, paid.role, paid.number) == ("question", "openai:served", "generate", 1)
        assert (paid.prompt_sha, paid.base_url) == (prompt_sha(HELLO), server.base_url)
        counts = paid.attempt
        assert (counts.input_tokens, counts.output_tokens) == (11, 3)
        assert (counts.cached_input_tokens, counts.reasoning_tokens) == (4, 2)
        assert (paid.reserved_input_tokens, paid.reserved_output_tokens) == (0, 0)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM replies").fetchone() == (0,)


def test_every_attempt_of_a_call_is_on_the_bill_and_a_replay_is_not(tmp_path: Path, bill: Bill) -> None:
    budget, written = bill
    with serving(failure(503), Play(reset=True), completion("ok", USAGE)) as server:
        for _ in range(2):
            with ReplyCache(tmp_path / "replies.sqlite") as cache:
                ask(settings(server.base_url), cache=cache, budget=budget, purpose="judge")
    assert [(one.number, one.attempt.input_tokens, one.purpose) for one in written] == [
        (1, 0, "judge"),
        (2, None, "judge"),
        (3, 11, "judge"),
    ]
    assert [one.reserved_output_tokens for one in written] == [0, 256, 0]
    assert written[1].reserved_input_tokens > 0
    assert (budget.spent.tokens, budget.spent.unknown) == (14, 1)


def test_a_request_that_is_given_up_is_on_the_bill_with_an_estimate_and_one_that_waits_is_not(bill: Bill) -> None:
    budget, written = bill
    with serving(Play(delay_seconds=0.5)) as server:

        async def give_up(model: LLMClient) -> None:
            async with anyio.create_task_group() as group:
                for sample in range(3):
                    group.start_soon(model.complete, asking(sample=sample))
                while not server.requests:
                    await anyio.sleep(0.001)
                group.cancel_scope.cancel()

        with_model(settings(server.base_url, concurrency=1), give_up, budget=budget)
    (paid,) = written
    assert paid.attempt.fault == GIVEN_UP
    assert (paid.attempt.input_tokens, paid.attempt.output_tokens) == (None, None)
    assert paid.reserved_output_tokens == 256
    assert budget.spent.unknown == 1


def test_no_reply_is_used_that_cannot_be_written_down(tmp_path: Path) -> None:
    def refuse(paid: PaidAttempt) -> None:
        raise RunStoreError("disk full")

    budget = Budget()
    with ReplyCache(tmp_path / "replies.sqlite") as cache, serving(completion("ok", USAGE)) as server:
        with budget.written_ahead(refuse), pytest.raises(RunStoreError, match="disk full"):
            ask(settings(server.base_url), cache=cache, budget=budget)
        (reply,) = ask(settings(server.base_url), cache=cache, budget=budget)
    assert not reply.call.replayed
