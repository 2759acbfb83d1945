"""Segment beam search, with retrieval per segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import anyio
import pytest

from arena.errors import AllowanceSpent
from arena.protocols import Continuation, RetrievalSettings, Tools
from arena.types import AnswerStyle, Attempt, Task
from strategies.self_rag import SELF_RAG
from strategies.self_rag.params import SelfRagParams
from tests.scripted_writer import ScriptedWriter, Text, Verdict
from tests.unit.strategies.self_rag.shelf import QUESTION, Shelf, ask, of, shown


def favour(*passages: str) -> Verdict:
    """Full support and utility for what is written from these, in this order; none for the rest. Always retrieves."""

    def verdict(role: str, prompt: str, labels: Sequence[str]) -> str:
        if role == "judge_relevance":
            return "yes" if shown(prompt) in passages else "no"
        if role == "judge_support":
            return "fully" if shown(prompt) == passages[0] else "partially" if shown(prompt) in passages else "none"
        return "5" if role == "judge_utility" else "yes"

    return verdict


def endless(role: str, prompt: str) -> str:
    """One sentence more than the text has, and then more, as if there were no end."""
    n = prompt.count("Fact ")
    return f"Fact {n} of {shown(prompt)}. Fact {n + 1} follows."


def ending(after: int) -> Text:
    def text(role: str, prompt: str) -> str:
        n = prompt.count("Fact ")
        return f"Fact {n} of {shown(prompt)}." + (f" Fact {n + 1} follows." if n + 1 < after else "")

    return text


def long(writer: ScriptedWriter, shelf: Shelf | None = None, **params: Any) -> Attempt:
    return ask(writer, shelf, "summary", **params)


def test_a_text_grows_sentence_by_sentence_and_cites_each_passage() -> None:
    attempt = long(ScriptedWriter(ending(2), favour("d2", "d3")))
    assert attempt.answer.text == "Fact 0 of d2. Fact 1 of d2."
    assert attempt.answer.used_ids == attempt.answer.cited_ids == ("doc-d2",)
    assert [each.choice for each in of(attempt, "stop")] == ["end"]


def test_each_later_segment_retrieves_for_the_question_and_the_last_segment() -> None:
    shelf = Shelf()
    attempt = long(ScriptedWriter(ending(2), favour("d2", "d3")), shelf)
    assert shelf.queries == [QUESTION, f"{QUESTION} Fact 0 of d2.", f"{QUESTION} Fact 0 of d3."]
    assert [each.changed for each in of(attempt, "retrieve?")] == [(), ("query",), ("query",)]


def test_a_model_that_never_ends_is_stopped_at_the_depth() -> None:
    attempt = long(ScriptedWriter(endless, favour("d1")), max_depth=3)
    assert attempt.answer.text == "Fact 0 of d1. Fact 1 of d1. Fact 2 of d1."
    (stop,) = of(attempt, "stop")
    assert (stop.choice, stop.score, stop.threshold, stop.changed) == ("depth", 3, 3, ("answer",))
    assert stop.origin == "user"


class CutOff(ScriptedWriter):
    """Every reply is as long as it may be, in the words of some provider."""

    async def draft(self, *given: Any, **settings: Any) -> Continuation:
        return replace(await super().draft(*given, **settings), finish_reason="MAX_TOKENS")


@dataclass
class Thinking(ScriptedWriter):
    """Thinks for longer than a segment may be; `limits`: the bound of each reply."""

    limits: list[int | None] = field(default_factory=list)

    async def draft(self, *given: Any, limit: int | None = None, **settings: Any) -> Continuation:
        self.limits.append(limit)
        said = await super().draft(*given, **settings)
        return said if limit is None else Continuation("<think>Let me see", (), "length")


def test_a_model_that_thinks_first_is_given_room() -> None:
    writer = Thinking(ending(1), favour("d1"))
    attempt = long(writer, Shelf(names=("d1",)))
    assert attempt.answer.text == "Fact 0 of d1."
    assert writer.limits == [100, None]


def test_a_segment_that_was_cut_off_is_no_end_of_the_text() -> None:
    attempt = long(CutOff(ending(1), favour("d1")), max_depth=2, beam_width=1)
    assert [each.choice for each in of(attempt, "stop")] == ["depth"]


def test_a_judge_that_never_agrees_ends_by_the_depth_and_within_bounded_calls() -> None:
    writer = ScriptedWriter(endless, lambda role, prompt, labels: labels[-1])
    attempt = long(writer, retrieval="always", constraints="hard")
    assert [each.choice for each in of(attempt, "stop")] == ["depth"]
    assert attempt.answer.text is not None
    assert len(writer.asked) <= 6 * 2 * 3 * 4
    assert {each.choice for each in of(attempt, "constraints")} == {"dropped all, kept the best"}


def test_relevance_is_judged_once_per_passage() -> None:
    writer = ScriptedWriter(endless, favour("d1"))
    long(writer, max_depth=3)
    assert len(writer.prompts("judge_relevance")) == 3
    assert len(writer.prompts("judge_support")) == 3 + 6 + 6


def test_each_text_gets_its_own_passages_whichever_retrieval_is_first() -> None:
    """Two texts retrieve at once, and the better one's retrieval is the slower."""

    def finds(query: str) -> list[str]:
        return ["d1", "d2"] if query == QUESTION else ["d3"] if "of d1" in query else ["d2"]

    slow = Shelf(finds=finds, slow={f"{QUESTION} Fact 0 of d1.": 0.05})
    attempt = long(ScriptedWriter(endless, favour("d1", "d2", "d3")), slow, max_depth=2)
    assert attempt.answer.text == "Fact 0 of d1. Fact 1 of d3."
    assert attempt.answer.retrieved_ids == ("doc-d1", "doc-d2", "doc-d3")
    assert attempt.answer.used_ids == ("doc-d1", "doc-d3")
    assert [each.changed for each in of(attempt, "retrieve?")] == [(), ("query", "evidence"), ("query",)]


def test_continue_goes_on_with_the_passage_in_hand() -> None:
    def verdict(role: str, prompt: str, labels: Sequence[str]) -> str:
        return "continue" if "continue" in labels else labels[0]

    writer, shelf = ScriptedWriter(endless, verdict), Shelf()
    attempt = long(writer, shelf, max_depth=2, beam_width=1)
    assert shelf.queries == [QUESTION]
    assert attempt.answer.text == "Fact 0 of d1. Fact 1 of d1."
    assert [(each.choice, each.changed) for each in of(attempt, "retrieve?")] == [("yes", ()), ("continue", ())]


def test_a_segment_without_retrieval_has_no_evidence_and_no_rank_by_right() -> None:
    def verdict(role: str, prompt: str, labels: Sequence[str]) -> str:
        if role == "decide_retrieve":
            return "no" if "Answer so far" in prompt else "yes"
        return "3" if role == "judge_utility" else labels[0]

    attempt = long(ScriptedWriter(endless, verdict), max_depth=2, beam_width=1)
    assert attempt.answer.text == "Fact 0 of d1. Fact 1 of None."
    assert attempt.answer.used_ids == ("doc-d1",)
    assert [each.score for each in of(attempt, "critique")[-1:]] == [0.0]


def test_a_repeating_model_ends_its_text() -> None:
    attempt = long(ScriptedWriter(lambda role, prompt: "The same. The same.", favour("d1")))
    assert attempt.answer.text == "The same."
    assert [each.choice for each in of(attempt, "stop")] == ["end"]


def test_an_abstention_is_a_whole_text_or_nothing_to_add() -> None:
    def text(role: str, prompt: str) -> str:
        return "I don't know." if "Fact" in prompt else "Fact one. Fact two."

    attempt = long(ScriptedWriter(text, favour("d1")))
    assert (attempt.answer.text, attempt.answer.abstained) == ("Fact one.", False)
    silent = long(ScriptedWriter(lambda role, prompt: "I don't know.", favour("d1")))
    assert (silent.answer.abstained, silent.answer.cited_ids) == (True, ())


def test_when_the_allowance_ends_the_best_text_so_far_is_the_answer() -> None:
    calls = count()

    def spent(role: str, prompt: str, labels: Sequence[str]) -> str:
        if next(calls) > 12:
            raise AllowanceSpent("12 calls")
        return labels[0]

    writer = ScriptedWriter(endless, spent)
    attempt = long(writer)
    assert attempt.answer.text == "Fact 0 of d1."
    assert attempt.decisions[-1].node == "allowance"
    assert "generate" not in writer.roles()


@pytest.mark.parametrize("style", ["short", "summary"])
def test_questions_at_once_come_out_as_one_by_one(style: AnswerStyle) -> None:
    strategy = SELF_RAG.build(SelfRagParams())

    async def attempts() -> list[Attempt | None]:
        found: list[Attempt | None] = [None] * 5

        async def one(place: int) -> None:
            shelf = Shelf(slow={QUESTION: 0.002 * (5 - place)})
            tools = Tools(shelf, RetrievalSettings("dense", 5), ScriptedWriter(endless, favour("d2")))
            found[place] = await strategy.attempt(Task(QUESTION, style), tools)

        async with anyio.create_task_group() as group:
            for place in range(5):
                group.start_soon(one, place)
        return found

    first, *others = anyio.run(attempts)
    assert first is not None
    assert all(other == first for other in others)
