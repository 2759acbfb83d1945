"""Vanilla RAG, the yardstick: retrieve once, answer once.

Lewis et al., "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks", NeurIPS 2020, reduced to what
the name means today: the top passages of one retrieval are put into one prompt. No training, no
marginalisation over passages.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from arena.protocols import Tools
from strategies.base import GraphStrategy, Params, StrategySpec
from strategies.nodes import ANSWER, RagState, generate, retrieve

FIGURE = frozenset({(START, "retrieve"), ("retrieve", "generate"), ("generate", END)})


def build(_: Params) -> GraphStrategy:
    """The figure: START -> retrieve -> generate -> END."""
    graph = StateGraph(RagState, context_schema=Tools)
    graph.add_node("retrieve", retrieve)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_edge("generate", END)
    return GraphStrategy(graph.compile(name="vanilla"))


VANILLA = StrategySpec("vanilla", "retrieve once, answer once: the yardstick", FIGURE, build, roles=ANSWER)
