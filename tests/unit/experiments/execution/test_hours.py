from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.config import LLMSettings, RunConfig
from arena.types import RunRecord
from experiments.execution.expectation import ModelWork, SecondsPerCall, measured_seconds, model_work
from tests.samples import answered, call, small_dataset
from tests.unit.experiments.made_runs import made_run

MODEL = "openai:tern"
PACE = SecondsPerCall(3.0, 100, "r1")


def test_hours_are_calls_at_the_measured_pace_over_those_in_flight() -> None:
    assert ModelWork(MODEL, 9600, None, 8, PACE).hours == pytest.approx(1.0)
    assert ModelWork(MODEL, 9600, None, 8, None).hours is None
    assert ModelWork(MODEL, 9600, None, 8, None).hours_at(6.0) == pytest.approx(2.0)
    assert ModelWork(MODEL, 0, None, 8, None).hours == 0.0
    assert ModelWork("fake:", 9600, None, 8, None).hours == 0.0


def test_a_limit_of_the_provider_that_is_slower_decides() -> None:
    work = ModelWork(MODEL, 9600, 1_200_000, 8, PACE, requests_per_minute=40.0, tokens_per_minute=100_000)
    assert work.hours == pytest.approx(4.0)
    by_tokens = replace(work, requests_per_minute=None, tokens_per_minute=2_000)
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
    work = model_work(model, settings, RunConfig(concurrency=questions), 10, None, None)
    assert work.at_once == at_once


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
