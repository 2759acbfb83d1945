"""Floor and ceiling rows: what retrieval alone, memory alone and perfect evidence achieve.

retrieval_only         retrieve, no model: how much of the evidence the index finds
closed_book            answer from memory: on a fictional corpus this is chance
oracle                 vanilla given exactly the gold documents: the reader's ceiling
oracle_minus_one_hop   vanilla given the gold documents but one: what an answer is worth that skips a hop
gold_plus_distractors  vanilla given the gold documents among others: what noise alone costs the reader

The last three are vanilla's own graph over a retriever that holds those documents. The strategy never sees gold;
only its retriever differs.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import Field

from arena.protocols import Tools
from strategies.base import GraphStrategy, Params, StrategySpec
from strategies.nodes import ANSWER, RagState, answer_from, generate, retrieve
from strategies.vanilla import FIGURE as VANILLA_FIGURE
from strategies.vanilla import build as build_vanilla

RETRIEVAL_ONLY_FIGURE = frozenset({(START, "retrieve"), ("retrieve", "hand_over"), ("hand_over", END)})
CLOSED_BOOK_FIGURE = frozenset({(START, "generate"), ("generate", END)})


class DistractorParams(Params):
    """How much noise."""

    distractors: int = Field(
        default=10,
        ge=1,
        le=200,
        description="Documents that are no gold, drawn from the whole corpus and shuffled among the gold ones. Ours: "
        "MuSiQue's own 16 to 18 a question were chosen for looking alike, and are harder.",
    )


async def hand_over(state: RagState, runtime: Runtime[Tools]) -> RagState:
    """Hand over the evidence without an answer: what was retrieved is what would have been shown."""
    return {"answer": answer_from(state.get("passages", ()), state, None, abstained=False)}


def build_retrieval_only(_: Params) -> GraphStrategy:
    """START -> retrieve -> hand_over -> END."""
    graph = StateGraph(RagState, context_schema=Tools)
    graph.add_node("retrieve", retrieve)
    graph.add_node("hand_over", hand_over)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "hand_over")
    graph.add_edge("hand_over", END)
    return GraphStrategy(graph.compile(name="retrieval_only"))


def build_closed_book(_: Params) -> GraphStrategy:
    """START -> generate -> END."""
    graph = StateGraph(RagState, context_schema=Tools)
    graph.add_node("generate", generate)
    graph.add_edge(START, "generate")
    graph.add_edge("generate", END)
    return GraphStrategy(graph.compile(name="closed_book"))


RETRIEVAL_ONLY = StrategySpec(
    "retrieval_only",
    "retrieve, no model: how much evidence the index finds",
    RETRIEVAL_ONLY_FIGURE,
    build_retrieval_only,
    needs_model=False,
)
CLOSED_BOOK = StrategySpec(
    "closed_book", "answer from memory: the floor", CLOSED_BOOK_FIGURE, build_closed_book, evidence="none", roles=ANSWER
)
ORACLE = StrategySpec(
    "oracle",
    "vanilla given the gold documents: the reader's ceiling",
    VANILLA_FIGURE,
    build_vanilla,
    evidence="gold",
    roles=ANSWER,
)
ORACLE_MINUS_ONE_HOP = StrategySpec(
    "oracle_minus_one_hop",
    "vanilla given the gold documents but one: answers that need no full chain",
    VANILLA_FIGURE,
    build_vanilla,
    evidence="gold_minus_one",
    roles=ANSWER,
)
GOLD_PLUS_DISTRACTORS = StrategySpec(
    "gold_plus_distractors",
    "vanilla given the gold documents among others: what noise alone costs",
    VANILLA_FIGURE,
    build_vanilla,
    params=DistractorParams,
    evidence="gold_plus_distractors",
    roles=ANSWER,
)
