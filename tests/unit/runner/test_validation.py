"""Whatever a strategy hands over, the question has a record that can be written down."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from arena.protocols import Tools
from arena.runner import run_one
from arena.types import Answer, Attempt, Decision, Task
from tests.unit.contestants import FINE, QUESTIONS, AskOnce, HandBack, contestant, failure_of


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "attempt() returned None"),
        ("Paris", "attempt() returned 'Paris'"),
        (Attempt("Paris"), "attempt() returned Attempt(answer='Paris'"),  # type: ignore[arg-type]
        (Attempt(Answer(5, abstained=False)), "field_name='text', input_value=5"),  # type: ignore[arg-type]
        (Attempt(Answer("x", abstained=1)), "field_name='abstained'"),  # type: ignore[arg-type]
        (Attempt(Answer("x", False, ["d1"])), "field_name='retrieved_ids'"),  # type: ignore[arg-type]
        (Attempt(FINE, (Decision("n", "c", float("nan")),)), "it would not come back from the journal as it is"),
        (Attempt(Answer("\ud800", abstained=False)), "surrogates not allowed"),
        (object(), "attempt() returned <object object"),
    ],
)
def test_what_is_no_attempt_fails_its_question_and_is_named(value: Any, said: str) -> None:
    failure = failure_of(HandBack(value))
    assert (failure.stage, failure.type) == ("strategy", "StrategyError")
    assert said in failure.message


def test_a_sound_attempt_goes_through_unchanged() -> None:
    decisions = (Decision("grade", "keep", 0.5, 0.4, "paper", ("evidence",)),)
    record = anyio.run(run_one, contestant("a", HandBack(Attempt(FINE, decisions))), QUESTIONS[0])
    assert (record.answer, record.decisions, record.failure) == (FINE, decisions, None)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ((("d1", "d9"), (), ()), "retrieved_ids holds 'd9', which is not among the documents of the question's hits"),
        (((), ("d1",), ()), "used_ids holds 'd1', which is not among its retrieved_ids"),
        ((("d1",), (), ("d1",)), "cited_ids holds 'd1', which is not among its used_ids"),
    ],
)
def test_evidence_is_not_taken_on_trust(evidence: tuple[tuple[str, ...], ...], said: str) -> None:
    failure = failure_of(HandBack(Attempt(Answer("x", False, evidence[0], evidence[1], evidence[2]))))
    assert failure.type == "StrategyError"
    assert said in failure.message


def test_without_a_retrieval_there_is_no_evidence() -> None:
    class Claim(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            return Attempt(FINE)

    assert "retrieved_ids holds 'd1'" in failure_of(Claim()).message


@pytest.mark.parametrize("query", [5, None, "\udfff"])
def test_a_request_that_cannot_be_written_down_fails_its_question(query: Any) -> None:
    class AskOddly(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            await tools.retriever.retrieve(tools.settings.request(query))
            return Attempt(FINE)

    failure = failure_of(AskOddly())
    assert (failure.type, failure.traceback) == ("StrategyError", None)
    assert f"the retriever was asked for RetrievalRequest(query={query!r}" in failure.message
