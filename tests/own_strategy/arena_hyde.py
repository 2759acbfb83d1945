"""HyDE: search with a passage that the model makes up, then answer from what was found.

Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023; with one made-up passage.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import Field

from arena.protocols import Message, Tools
from strategies import GraphStrategy, Params, StrategySpec
from strategies.nodes import RagState, generate, retrieve, writer_of

FIGURE = frozenset({(START, "imagine"), ("imagine", "retrieve"), ("retrieve", "generate"), ("generate", END)})
PROMPT = "Write one encyclopedia passage of at most {words} words that answers the question, guessing where you must."


class HydeParams(Params):
    """What can be set, as in `--strategies hyde:words=80`."""

    words: int = Field(60, ge=10, le=200, description="length of the made-up passage")


def build(params: HydeParams) -> GraphStrategy:
    """START -> imagine -> retrieve -> generate -> END."""

    async def imagine(state: RagState, runtime: Runtime[Tools]) -> RagState:
        turns = [Message("system", PROMPT.format(words=params.words)), Message("user", state["question"])]
        return {"search_query": await writer_of(runtime.context).write(turns, role="imagine")}

    graph = StateGraph(RagState, context_schema=Tools)
    graph.add_node("imagine", imagine)
    graph.add_node("retrieve", retrieve)
    graph.add_node("generate", generate)
    graph.add_edge(START, "imagine")
    graph.add_edge("imagine", "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_edge("generate", END)
    return GraphStrategy(graph.compile(name="hyde"))


HYDE = StrategySpec(
    "hyde", "search with a made-up passage, answer from what it finds", FIGURE, build, HydeParams, prompts=(PROMPT,)
)
