"""Every contestant comes to an end by its own rule, whatever the model says."""

from __future__ import annotations

import anyio
import pytest
from langgraph.graph import END, START, StateGraph

from arena.protocols import Tools
from arena.types import Answer, Decision, Task
from strategies import GraphStrategy, Variant
from strategies.nodes import RagState
from tests.contract.contestants import JUDGES, VARIANTS, loops, reads_tokens, those, writing
from tests.contract.courses import strategy, tools
from tests.contract.shelf import SUMMARY, TASK, ShelfRetriever, elsewhere
from tests.scripted_writer import ScriptedWriter

MOST_STEPS = 120
MOST_CALLS = 400
ENDLESS = "Point {0} stands. From it follows {0} again. And so on from {0}."
STUBBORN = (
    ("always the worst label", ENDLESS),
    ("never readable", ENDLESS),
    ("torn", "Orlen Weir lies {0} miles off."),
    ("certain", "so {0}"),
)


def stubborn(judge: str, saying: str) -> ScriptedWriter:
    """Says something new each time, so that nothing ends because it repeats itself."""

    def text(role: str, prompt: str) -> str:
        return saying.format(len(writer.asked))

    writer = ScriptedWriter(text=text, verdict=JUDGES[judge])
    return writer


async def steps_to_the_end(entry: str, task: Task, writer: ScriptedWriter) -> tuple[int, dict[str, object]]:
    """How many steps the graph took, and the state it ended in."""
    given = {"question": task.question, "style": task.style}
    context = tools(entry, ShelfRetriever(), elsewhere(), writer)
    steps = strategy(entry).graph.astream(
        given, context=context, stream_mode="values", config={"recursion_limit": MOST_STEPS}
    )
    states = [dict(state) async for state in steps]
    return len(states), states[-1]


@writing
@pytest.mark.parametrize("task", [TASK, SUMMARY], ids=["short", "summary"])
def test_a_model_that_never_agrees_ends_by_the_contestants_own_cap(entry: str, task: Task) -> None:
    for judge, saying in STUBBORN:
        writer = stubborn(judge, saying)
        steps, state = anyio.run(steps_to_the_end, entry, task, writer)
        assert steps < MOST_STEPS / 2, judge
        assert len(writer.asked) < MOST_CALLS, judge
        assert "answer" in state, judge


def may_go_on(variant: Variant) -> bool:
    """Whether its settings leave more than one round of its loop."""
    fixed = variant.settings.get("policy") in ("always_a", "always_b") or variant.settings.get("mode") == "closed_set"
    return loops(variant) and not fixed


@those(may_go_on)
def test_a_loop_that_is_cut_off_says_so(entry: str) -> None:
    more = " [Retrieval]" if reads_tokens(VARIANTS[entry]) else ""  # how the trained model goes on
    writer = stubborn("always the worst label", ENDLESS + more)
    _, state = anyio.run(steps_to_the_end, entry, SUMMARY, writer)
    decisions = state["decisions"]
    assert isinstance(decisions, tuple)
    (cut,) = [one for one in decisions if isinstance(one, Decision) and one.choice in ("cap", "depth")]
    assert cut.threshold is not None
    assert cut.score == cut.threshold


class Rounds(RagState, total=False):
    number: int


async def go_round(state: Rounds) -> Rounds:
    number = state.get("number", 0) + 1
    return {"number": number, "answer": Answer(str(number), abstained=False)}


async def enough(state: Rounds) -> str:
    return END if state["number"] == 4 * MOST_STEPS else "go_round"


def test_the_limit_of_the_library_is_far_above() -> None:
    graph = StateGraph(Rounds, context_schema=Tools)
    graph.add_node("go_round", go_round)
    graph.add_edge(START, "go_round")
    graph.add_conditional_edges("go_round", enough, ["go_round", END])
    context = tools("vanilla", ShelfRetriever(), elsewhere(), ScriptedWriter())
    attempt = anyio.run(GraphStrategy(graph.compile()).attempt, TASK, context)
    assert attempt.answer.text == str(4 * MOST_STEPS)
