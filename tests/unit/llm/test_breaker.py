from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ProviderDownError
from arena.llm.client import Breaker, LLMClient
from tests.unit.llm.asking import Waits, ask, ask_at_once, asking, scripted, with_model


def failed(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed("HTTP 503: no")


def test_it_opens_after_so_many_failures_and_stays_open() -> None:
    breaker = Breaker(3, "'openai:x' at http://h/v1")
    failed(breaker, 2)
    breaker.check()
    with pytest.raises(ProviderDownError, match=r"'openai:x' at http://h/v1 failed 3 calls in a row.*HTTP 503: no"):
        breaker.failed("HTTP 503: no")
    breaker.succeeded()
    with pytest.raises(ProviderDownError, match="see whether the server is up"):
        breaker.check()


def test_a_reply_in_between_starts_the_count_anew() -> None:
    breaker = Breaker(3, "m")
    for _ in range(5):
        failed(breaker, 2)
        breaker.succeeded()
    breaker.check()


def test_the_first_cause_is_told_to_all() -> None:
    breaker = Breaker(1, "m")
    with pytest.raises(ProviderDownError, match=r"failed a call after.*first"):
        breaker.failed("first")
    with pytest.raises(ProviderDownError, match="first"):
        breaker.failed("second")


def test_a_provider_that_is_down_stops_the_run_and_is_left_alone(tmp_path: Path) -> None:
    tally = tmp_path / "tally.jsonl"
    settings = scripted(tmp_path, {"rules": [{"error": 503}], "tally": str(tally)}, max_attempts=2, breaker_failures=3)

    async def use(model: LLMClient) -> list[str | None]:
        errors = [(await model.complete(asking())).call.error for _ in range(2)]
        for _ in range(2):
            with pytest.raises(ProviderDownError, match=r"failed 3 calls in a row.*HTTP 503"):
                await model.complete(asking())
        return errors

    assert all(with_model(settings, use))
    assert len(tally.read_text(encoding="utf-8").splitlines()) == 6


def test_calls_in_back_off_give_up_when_it_opens(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> None:
        with pytest.raises(BaseExceptionGroup) as caught:
            await ask_at_once(model, [asking()] * 6)
        assert caught.group_contains(ProviderDownError)

    tally = tmp_path / "tally.jsonl"
    script = {"rules": [{"error": 503}], "tally": str(tally)}
    with_model(scripted(tmp_path, script, max_attempts=3, breaker_failures=1, concurrency=1), use, Waits())
    assert len(tally.read_text(encoding="utf-8").splitlines()) == 2 * 6 + 1


@pytest.mark.parametrize("script", [{"rules": [{"error": 400}]}, {"rules": [{"reply": ""}]}], ids=["lasting", "empty"])
def test_failures_that_are_no_outage_do_not_open_it(tmp_path: Path, script: dict[str, object]) -> None:
    replies = ask(scripted(tmp_path, script, breaker_failures=2, max_attempts=1), times=5)
    assert all(reply.call.error for reply in replies)
