"""The graph of Corrective RAG, line by line as in the figure."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from arena.protocols import Tools
from strategies.base import GraphStrategy
from strategies.corrective.nodes import CorrectiveNodes
from strategies.corrective.params import CorrectiveParams
from strategies.corrective.state import CorrectiveState
from strategies.nodes import generate, retrieve

FIGURE = frozenset(
    {
        (START, "retrieve"),
        ("retrieve", "evaluate"),
        ("evaluate", "decide_action"),
        ("decide_action", "refine"),
        ("decide_action", "rewrite"),
        ("rewrite", "search"),
        ("search", "select_external"),
        ("refine", "recompose"),
        ("select_external", "recompose"),
        ("recompose", "generate"),
        ("generate", END),
    }
)


def build(params: CorrectiveParams) -> GraphStrategy:
    """Correct: refine. Incorrect: rewrite, search, select. Ambiguous: both at once. Then generate, once; no loop."""
    nodes = CorrectiveNodes(params)
    graph = StateGraph(CorrectiveState, context_schema=Tools)
    graph.add_node("retrieve", retrieve)
    graph.add_node("evaluate", nodes.evaluate)
    graph.add_node("decide_action", nodes.decide_action)
    graph.add_node("refine", nodes.refine)
    graph.add_node("rewrite", nodes.rewrite)
    graph.add_node("search", nodes.search)
    graph.add_node("select_external", nodes.select_external)
    graph.add_node("recompose", nodes.recompose, defer=True)  # once, when both branches are through
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "evaluate")
    graph.add_edge("evaluate", "decide_action")
    graph.add_conditional_edges("decide_action", nodes.next_nodes, ["refine", "rewrite"])
    graph.add_edge("rewrite", "search")
    graph.add_edge("search", "select_external")
    graph.add_edge("refine", "recompose")
    graph.add_edge("select_external", "recompose")
    graph.add_edge("recompose", "generate")
    graph.add_edge("generate", END)
    return GraphStrategy(graph.compile(name="corrective"), salvage=nodes.salvage)
