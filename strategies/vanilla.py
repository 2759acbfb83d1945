"""Vanilla RAG, the yardstick: retrieve once, answer once.

Lewis et al., "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks", NeurIPS 2020, reduced to what
the name means today: the top passages of one retrieval are put into one prompt. No training, no
marginalisation over passages.
"""

from __future__ import annotations

from langgraph.graph import END, START

from strategies.base import GraphStrategy, Params, StrategySpec, named, path, wired
from strategies.nodes import ANSWER, RagState, generate, retrieve

FIGURE = path(START, "retrieve", "generate", END)


def build(_: Params) -> GraphStrategy:
    """The figure: START -> retrieve -> generate -> END."""
    return GraphStrategy(wired("vanilla", RagState, FIGURE, named(retrieve, generate)))


VANILLA = StrategySpec("vanilla", "retrieve once, answer once: the yardstick", FIGURE, build, roles=ANSWER)
