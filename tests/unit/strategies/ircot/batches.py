"""One question through a graph over a retriever that brings a new batch of passages at every call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import anyio

from arena.protocols import Continuation, Message, RetrievalSettings, Tools, Writer
from arena.types import Attempt, Decision, Hit, Passage, Retrieval, RetrievalRequest, Task
from strategies.base import StrategySpec
from tests.scripted_writer import ScriptedWriter

QUESTION = "Who governs the town of the Orlen Weir?"
SETTINGS = RetrievalSettings("dense", k=3)


def passage(name: str) -> Passage:
    text = f"{name} is a passage."
    return Passage(name, name, f"Title {name}", text, 0, len(text))


@dataclass
class Batches:
    """The first call brings the first batch, and so on; the last batch comes back for ever."""

    batches: Sequence[Sequence[Passage]]
    asked: list[RetrievalRequest] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        batch = self.batches[min(len(self.asked), len(self.batches) - 1)]
        self.asked.append(request)
        return Retrieval(
            request, tuple(Hit(p.passage_id, p.doc_id, rank, 1.0 / rank) for rank, p in enumerate(batch, 1))
        )

    def passage(self, passage_id: str) -> Passage:
        return next(p for batch in self.batches for p in batch if p.passage_id == passage_id)

    @property
    def queries(self) -> list[str]:
        return [request.query for request in self.asked]


def chain(replies: Iterable[str], answer: str = "Mirelle Ostrand [1]") -> ScriptedWriter:
    """Each call of a step gets the next reply, the last one for ever; the reader says `answer`."""
    coming: Iterator[str] = iter(replies)
    last = ""

    def text(role: str, prompt: str) -> str:
        nonlocal last
        if role == "generate":
            return answer
        last = next(coming, last)
        return last

    return ScriptedWriter(text=text)


@dataclass
class Thinker(ScriptedWriter):
    """Thinks before it speaks: whatever is bounded is cut off while it does, and what is said counts as bounded."""

    bounds: list[int | None] = field(default_factory=list)

    async def draft(
        self,
        messages: Sequence[Message],
        *,
        role: str,
        limit: int | None = None,
        stop: tuple[str, ...] = (),
        logprobs: bool = False,
    ) -> Continuation:
        self.bounds.append(limit)
        said = await super().draft(messages, role=role, limit=limit, stop=stop, logprobs=logprobs)
        return Continuation("<think>Hm", (), "length") if limit else Continuation(f"<think>Hm</think>{said.text}", ())


def attempt(spec: StrategySpec, retriever: Batches, writer: Writer, **params: object) -> Attempt:
    tools = Tools(retriever, SETTINGS, writer)
    return anyio.run(spec.build(spec.params.model_validate(params)).attempt, Task(QUESTION), tools)


def decisions(of: Attempt, node: str) -> list[Decision]:
    return [decision for decision in of.decisions if decision.node == node]


def choices(of: Attempt, node: str) -> list[str]:
    return [decision.choice for decision in decisions(of, node)]
