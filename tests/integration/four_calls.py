"""A strategy that pays for four calls a question, one of each kind, and needs no index."""

from __future__ import annotations

from pathlib import Path

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from arena.protocols import Message, Tools
from strategies import GraphStrategy, Params, StrategySpec
from strategies.nodes import RagState, generate, writer_of

FIGURE = frozenset({(START, "ask"), ("ask", "generate"), ("generate", END)})


class Plan(BaseModel):
    first_step: str
    is_simple: bool


async def ask(state: RagState, runtime: Runtime[Tools]) -> RagState:
    writer = writer_of(runtime.context)
    asked = Message("user", f"Question: {state['question']}")
    judged = Message("user", f"{asked.content}\nIs it simple?\nReply with one of: yes, no")
    await writer.write((Message("system", "Guess."), asked), role="guess")
    await writer.classify((judged,), ("yes", "no"), role="judge")
    await writer.ask((asked,), Plan, role="plan")
    return {}


def build(_: Params) -> GraphStrategy:
    graph = StateGraph(RagState, context_schema=Tools)
    graph.add_node("ask", ask)
    graph.add_node("generate", generate)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "generate")
    graph.add_edge("generate", END)
    return GraphStrategy(graph.compile(name="four_calls"))


FOUR_CALLS = StrategySpec("four_calls", "four calls, one of each kind", FIGURE, build, evidence="none")


def install(folder: Path) -> Path:
    """Make the strategy known to processes that import from `folder`, which is returned."""
    info = folder / "four_calls-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: four-calls\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[arena.strategies]\nfour_calls = {__name__}:FOUR_CALLS\n")
    return folder
