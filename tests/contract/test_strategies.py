"""What every contestant must keep, whatever its paper says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from arena.errors import ModelCallError
from arena.protocols import Message, RetrievalSettings, Tools
from arena.types import Attempt, Hit, Passage, Retrieval, RetrievalRequest, Task
from strategies import STRATEGIES, StrategySpec
from strategies.nodes import retrieve
from strategies.parsing import ABSTENTION
from tests.samples import DOCUMENTS

PASSAGES = {d.doc_id: Passage(d.doc_id, d.doc_id, d.title, d.text, 0, len(d.text)) for d in DOCUMENTS}
SETTINGS = RetrievalSettings("dense", k=2)


@dataclass
class ShelfRetriever:
    """The first k of a fixed shelf, and a note of what was asked."""

    shelf: Sequence[str] = ("d1", "d2", "d3")
    asked: list[RetrievalRequest] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        self.asked.append(request)
        hits = tuple(Hit(name, name, rank, 1.0 / rank) for rank, name in enumerate(self.shelf[: request.k], 1))
        return Retrieval(request, hits)

    def passage(self, passage_id: str) -> Passage:
        return PASSAGES[passage_id]


@dataclass
class ParrotWriter:
    """Always the same reply, and a note of what was asked."""

    reply: str = "Mirelle Ostrand [2]"
    prompts: list[tuple[str, str]] = field(default_factory=list)

    async def write(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> str:
        self.prompts.append((role, "\n".join(message.content for message in messages)))
        return self.reply


class DeadWriter(ParrotWriter):
    async def write(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> str:
        raise ModelCallError(f"{role}: HTTP 500")


def attempt(spec: StrategySpec, retriever: ShelfRetriever, writer: ParrotWriter, task: Task | None = None) -> Attempt:
    tools = Tools(retriever, SETTINGS, writer if spec.needs_model else None)
    return anyio.run(spec.build().attempt, task or Task("Who governs Tammerhold?"), tools)


every = pytest.mark.parametrize("spec", STRATEGIES.values(), ids=STRATEGIES.keys())
retrieving = pytest.mark.parametrize(
    "spec", [spec for spec in STRATEGIES.values() if spec.evidence != "none"], ids=lambda spec: spec.name
)
writing = pytest.mark.parametrize(
    "spec", [spec for spec in STRATEGIES.values() if spec.needs_model], ids=lambda spec: spec.name
)


@every
def test_the_graph_is_the_figure(spec: StrategySpec) -> None:
    drawn = spec.build().graph.get_graph()
    assert {(edge.source, edge.target) for edge in drawn.edges} == spec.figure


@retrieving
def test_all_hold_the_one_retrieve_node(spec: StrategySpec) -> None:
    node: Any = spec.build().graph.builder.nodes["retrieve"].runnable
    assert node.afunc is retrieve


@retrieving
def test_the_first_request_is_the_question_under_the_given_settings(spec: StrategySpec) -> None:
    retriever = ShelfRetriever()
    attempt(spec, retriever, ParrotWriter())
    assert retriever.asked[0] == RetrievalRequest("Who governs Tammerhold?", "dense", 2, None, None)


@retrieving
def test_evidence_is_reported_in_three_stages(spec: StrategySpec) -> None:
    answer = attempt(spec, ShelfRetriever(), ParrotWriter()).answer
    assert answer.retrieved_ids == ("d1", "d2")
    assert set(answer.used_ids) <= set(answer.retrieved_ids)
    assert set(answer.cited_ids) <= set(answer.used_ids)


@writing
def test_the_answer_is_the_reply_without_its_marks(spec: StrategySpec) -> None:
    assert attempt(spec, ShelfRetriever(), ParrotWriter()).answer.text == "Mirelle Ostrand"


@writing
def test_an_abstention_is_seen(spec: StrategySpec) -> None:
    assert attempt(spec, ShelfRetriever(), ParrotWriter(f"{ABSTENTION}.")).answer.abstained


@writing
def test_the_prompt_of_the_answer_holds_the_original_question(spec: StrategySpec) -> None:
    writer = ParrotWriter()
    attempt(spec, ShelfRetriever(), writer)
    assert [prompt for role, prompt in writer.prompts if role == "generate"][-1].count("Who governs Tammerhold?") == 1


@every
def test_an_empty_retrieval_is_survived(spec: StrategySpec) -> None:
    answer = attempt(spec, ShelfRetriever(shelf=()), ParrotWriter()).answer
    assert answer.used_ids == ()
    assert answer.retrieved_ids == ()


@writing
def test_a_failed_call_is_the_runners_business(spec: StrategySpec) -> None:
    with pytest.raises(ModelCallError, match="HTTP 500"):
        attempt(spec, ShelfRetriever(), DeadWriter())


@every
def test_equal_tasks_give_equal_attempts(spec: StrategySpec) -> None:
    first, second = (attempt(spec, ShelfRetriever(), ParrotWriter()) for _ in range(2))
    assert first == second
