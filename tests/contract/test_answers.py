"""What every contestant makes of a model's replies."""

from __future__ import annotations

import anyio
import pytest

from arena.text import ABSTENTION
from arena.types import Task
from tests.contract.contestants import JUDGES, VARIANTS, chooses_among_options, every, in_free_text, writing
from tests.contract.courses import run, strategy, tools, under_every_judge, usual
from tests.contract.shelf import QUESTION, SUMMARY, TASK, ShelfRetriever, elsewhere
from tests.scripted_writer import ScriptedWriter

EITHER_STYLE = pytest.mark.parametrize("task", [TASK, SUMMARY], ids=["short", "summary"])


@in_free_text
def test_the_answer_is_the_reply_without_its_marks(entry: str) -> None:
    for course in under_every_judge(entry):
        said = (course.answer.text or "").split(" Mirelle")  # a long text goes on, and a parrot repeats itself
        assert said[0] in ("Mirelle Ostrand", "Mirelle Ostrand."), course.judge
        assert "[" not in (course.answer.text or ""), course.judge


@writing
@EITHER_STYLE
def test_whatever_the_judge_says_there_is_an_answer(entry: str, task: Task) -> None:
    for course in under_every_judge(entry, task):
        answer = course.answer
        assert answer.abstained or (answer.text or "").strip(), course.judge
        if chooses_among_options(VARIANTS[entry]) and not answer.abstained:
            assert answer.text in ("Mirelle Ostrand", "Ode Varn"), course.judge


@in_free_text
def test_an_abstention_is_seen(entry: str) -> None:
    for judge in ("always the worst label", "certain"):
        assert run(entry, judge, f"{ABSTENTION}.").answer.abstained, judge


@in_free_text
def test_reasoning_is_no_part_of_the_answer(entry: str) -> None:
    text = run(entry, reply="<think>Is it [1]? Varn?</think>**Answer:** Mirelle Ostrand").answer.text
    assert text is not None
    assert "Mirelle Ostrand" in text
    assert not any(mark in text for mark in ("think", "Varn", "*", "["))


@writing
@EITHER_STYLE
def test_every_prompt_holds_the_original_question(entry: str, task: Task) -> None:
    for course in under_every_judge(entry, task):
        assert all(QUESTION.text in prompt for _, prompt in course.writer.asked), course.judge


@every
@EITHER_STYLE
def test_question_and_style_are_never_overwritten(entry: str, task: Task) -> None:
    async def states(judge: str) -> list[dict[str, object]]:
        writer = ScriptedWriter(text=lambda role, prompt: "Orlen Weir lies in the north.", verdict=JUDGES[judge])
        context = tools(entry, ShelfRetriever(), elsewhere(), writer)
        given = {"question": task.question, "style": task.style}
        graph = strategy(entry).graph
        return [dict(state) async for state in graph.astream(given, context=context, stream_mode="values")]

    for judge in ("always the best label", "always the worst label"):
        seen = anyio.run(states, judge)
        assert len(seen) > 1
        assert {(state["question"], state["style"]) for state in seen} == {(task.question, task.style)}, judge


@every
def test_equal_tasks_give_equal_attempts(entry: str) -> None:
    for judge in ("always the best label", "torn"):
        course, again = usual(entry, judge), run(entry, judge)
        assert again.attempt == course.attempt, judge
        assert again.writer.asked == course.writer.asked, judge
