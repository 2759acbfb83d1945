from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.config import LLMSettings
from arena.types import RunRecord
from experiments.execution.expectation import ModelWork, SecondsPerCall, measured_seconds
from tests.samples import answered, call, small_dataset
from tests.unit.experiments.made_runs import made_run

MODEL = "openai:tern"
PACE = SecondsPerCall(3.0, 100, "r1")


def test_hours_are_calls_at_the_measured_pace_over_those_in_flight() -> None:
    work = ModelWork(MODEL, LLMSettings(model=MODEL), 8, 9600, None, PACE)
    assert work.hours == pytest.approx(1.0)
    unmeasured = replace(work, seconds_per_call=None)
    assert unmeasured.hours is None
    assert unmeasured.hours_at(6.0) == pytest.approx(2.0)
    assert replace(unmeasured, calls=0).hours == 0.0
    assert replace(unmeasured, model="fake:").hours == 0.0


def test_a_limit_of_the_provider_that_is_slower_decides() -> None:
    limited = LLMSettings(model=MODEL, requests_per_minute=40.0, tokens_per_minute=100_000)
    work = ModelWork(MODEL, limited, 8, 9600, 1_200_000, PACE)
    assert work.hours == pytest.approx(4.0)
    by_tokens = replace(work, settings=LLMSettings(model=MODEL, tokens_per_minute=2_000))
    assert by_tokens.hours == pytest.approx(10.0)
    assert replace(by_tokens, tokens=None).hours == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "concurrency", "questions", "at_once"),
    [(MODEL, None, 8, 8), (MODEL, 4, 8, 4), (MODEL, 64, 16, 16), ("local:small", None, 8, 1)],
)
def test_no_more_calls_are_in_flight_than_settings_let(
    model: str, concurrency: int | None, questions: int, at_once: int
) -> None:
    settings = LLMSettings(model=model, concurrency=concurrency)
    assert ModelWork(model, settings, questions, 10, None, None).at_once == at_once


def test_a_pace_is_that_of_the_last_finished_run_that_asked_the_model(tmp_path: Path) -> None:
    def records(seconds: float, model: str = MODEL, *, replayed: bool = False) -> list[RunRecord]:
        one = answered("q1", "Mirelle Ostrand", ("d1",))
        return [replace(one, calls=(call(model=model, service_seconds=seconds, replayed=replayed),) * 2)]

    for name, made in (("r1", records(1.0)), ("r2", records(2.0)), ("r3", records(9.0, replayed=True))):
        made_run(tmp_path / name, "world", small_dataset(), made)
    made_run(tmp_path / "r4", "world", small_dataset(), records(5.0), status="running")
    made_run(tmp_path / "r5", "world", small_dataset(), records(7.0, "openai:gull"))
    (tmp_path / "r6").mkdir()
    (tmp_path / "r6" / "manifest.json").write_text("no JSON")
    assert measured_seconds(tmp_path, {MODEL, "openai:auk"}) == {MODEL: SecondsPerCall(2.0, 2, "r2")}
    assert measured_seconds(tmp_path / "none", {MODEL}) == {}
