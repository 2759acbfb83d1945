"""A small shelf of passages, and Self-RAG run over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from arena.protocols import RetrievalSettings, Tools, Writer
from arena.types import AnswerStyle, Attempt, Decision, Hit, Passage, Retrieval, RetrievalRequest, Task
from strategies.self_rag import SELF_RAG

QUESTION = "Who governs Tammerhold?"
TEXTS = {
    "d1": "Orlen Weir is a river that rises near Tammerhold.",
    "d2": "Tammerhold is a hill town governed by Mirelle Ostrand.",
    "d3": "Mirelle Ostrand trained at the Quennick School.",
}
PASSAGES = {name: Passage(name, f"doc-{name}", name.upper(), text, 0, len(text)) for name, text in TEXTS.items()}


@dataclass
class Shelf:
    """The same passages for every query, or what `finds` says; a note of all queries; `slow`: query -> seconds."""

    names: Sequence[str] = ("d1", "d2", "d3")
    finds: Callable[[str], Sequence[str]] | None = None
    slow: dict[str, float] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        self.queries.append(request.query)
        await anyio.sleep(self.slow.get(request.query, 0.0))
        names = self.finds(request.query) if self.finds else self.names
        hits = tuple(Hit(name, f"doc-{name}", rank, 1.0 / rank) for rank, name in enumerate(names[: request.k], 1))
        return Retrieval(request, hits)

    def passage(self, passage_id: str) -> Passage:
        return PASSAGES[passage_id]


def ask(writer: Writer, shelf: Shelf | None = None, style: AnswerStyle = "short", **params: Any) -> Attempt:
    """What Self-RAG makes of the question."""
    tools = Tools(shelf or Shelf(), RetrievalSettings("dense", k=5), writer)
    return anyio.run(SELF_RAG.build(SELF_RAG.params(**params)).attempt, Task(QUESTION, style), tools)


def shown(prompt: str) -> str | None:
    """The id of the one passage in a prompt; None without any."""
    found = [name for name, text in TEXTS.items() if text in prompt]
    assert len(found) < 2, "a candidate is written and judged from one passage alone"
    return found[0] if found else None


def of(attempt: Attempt, node: str) -> list[Decision]:
    return [decision for decision in attempt.decisions if decision.node == node]
