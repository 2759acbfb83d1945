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

from dataclasses import replace

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic import Field

from arena.protocols import Tools
from strategies.base import GraphStrategy, Params, StrategySpec, named, path, wired
from strategies.nodes import ANSWER, RagState, answer_from, generate, retrieve
from strategies.vanilla import VANILLA

RETRIEVAL_ONLY_FIGURE = path(START, "retrieve", "hand_over", END)
CLOSED_BOOK_FIGURE = path(START, "generate", END)


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
    return GraphStrategy(wired("retrieval_only", RagState, RETRIEVAL_ONLY_FIGURE, named(retrieve, hand_over)))


def build_closed_book(_: Params) -> GraphStrategy:
    """START -> generate -> END."""
    return GraphStrategy(wired("closed_book", RagState, CLOSED_BOOK_FIGURE, named(generate)))


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
ORACLE = replace(
    VANILLA, name="oracle", summary="vanilla given the gold documents: the reader's ceiling", evidence="gold"
)
ORACLE_MINUS_ONE_HOP = replace(
    VANILLA,
    name="oracle_minus_one_hop",
    summary="vanilla given the gold documents but one: answers that need no full chain",
    evidence="gold_minus_one",
)
GOLD_PLUS_DISTRACTORS = replace(
    VANILLA,
    name="gold_plus_distractors",
    summary="vanilla given the gold documents among others: what noise alone costs",
    params=DistractorParams,
    evidence="gold_plus_distractors",
)
