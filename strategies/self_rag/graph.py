"""The graph of Self-RAG (paper's algorithm 1 and figure 1), one level of the segment beam search a round."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from arena.protocols import Tools
from strategies.base import Edges, GraphStrategy
from strategies.nodes import retrieve
from strategies.self_rag.nodes import SelfRag
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.prompted import PromptedCritic
from strategies.self_rag.state import SelfRagState
from strategies.self_rag.trained import TrainedCritic

FIGURE: Edges = frozenset(
    {
        (START, "decide_retrieve"),
        ("decide_retrieve", "retrieve"),
        ("decide_retrieve", "fan_out"),
        ("retrieve", "fan_out"),
        ("fan_out", "candidate"),
        ("fan_out", "generate_plain"),
        ("candidate", "select_beam"),
        ("generate_plain", "select_beam"),
        ("select_beam", "decide_retrieve"),
        ("select_beam", "finish"),
        ("finish", END),
    }
)
"""Every unfinished text goes round at once: `retrieve` runs once a text, `candidate` once a text and passage."""


def build(params: SelfRagParams) -> GraphStrategy:
    """The figure under given settings."""
    nodes = SelfRag(params, TrainedCritic(params) if params.checkpoint else PromptedCritic(params))
    graph = StateGraph(SelfRagState, context_schema=Tools)
    graph.add_node("decide_retrieve", nodes.decide_retrieve)
    graph.add_node("retrieve", retrieve)
    graph.add_node("fan_out", nodes.fan_out)
    graph.add_node("candidate", nodes.candidate)
    graph.add_node("generate_plain", nodes.generate_plain)
    graph.add_node("select_beam", nodes.select_beam)
    graph.add_node("finish", nodes.finish)
    graph.add_edge(START, "decide_retrieve")
    graph.add_conditional_edges("decide_retrieve", nodes.after_deciding, ["retrieve", "fan_out"])
    graph.add_edge("retrieve", "fan_out")
    graph.add_conditional_edges("fan_out", nodes.after_fanning_out, ["candidate", "generate_plain"])
    graph.add_edge("candidate", "select_beam")
    graph.add_edge("generate_plain", "select_beam")
    graph.add_conditional_edges("select_beam", nodes.after_selecting, ["decide_retrieve", "finish"])
    graph.add_edge("finish", END)
    return GraphStrategy(graph.compile(name="self_rag"), nodes.salvage)
