"""What a contestant is: a spec that names it, and a graph that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from langgraph.graph.state import CompiledStateGraph

from arena.errors import StrategyError
from arena.protocols import Tools
from arena.types import Attempt, Task
from strategies.state import RagState

Evidence = Literal["index", "gold", "none"]
Tier = Literal["T0", "T1", "T2"]
Edges = frozenset[tuple[str, str]]
Graph = CompiledStateGraph[RagState, Tools, RagState, RagState]


@dataclass(frozen=True, slots=True)
class GraphStrategy:
    """A compiled graph as a `Strategy`: one invocation per question, nothing shared between them."""

    graph: Graph

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        start: RagState = {"question": task.question, "style": task.style}
        end = await self.graph.ainvoke(start, context=tools)
        if "answer" not in end:
            raise StrategyError("the graph ended without an answer: some path does not write `answer`")
        return Attempt(end["answer"], tuple(end.get("decisions", ())))


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """One row of the STRATEGIES table.

    `evidence`: `index` runs once per retrieval mode of the comparison; `gold` is given each question's own
    supporting documents through the retriever seam, and questions without any are not asked; `none` never
    retrieves. `figure` is the edge set of the paper's figure; the graph must have exactly these. `tier` is the
    fidelity to the paper (None: a baseline or control, with no paper's arithmetic to be faithful to).
    """

    name: str
    summary: str
    figure: Edges
    build: Callable[[], GraphStrategy]
    evidence: Evidence = "index"
    needs_model: bool = True
    tier: Tier | None = None
