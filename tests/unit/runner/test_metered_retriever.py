from __future__ import annotations

from dataclasses import replace

import anyio

from arena.protocols import Tools
from arena.runner import run_one
from arena.types import Answer, Attempt, Hit, Retrieval, RetrievalRequest, Task
from tests.unit.contestants import FINE, QUESTIONS, AskOnce, OneHit, contestant, failure_of


def test_retrievals_keep_the_order_of_asking() -> None:
    class SlowFirst(OneHit):
        async def retrieve(self, request: RetrievalRequest) -> Retrieval:
            for _ in range(5 if request.query == "slow" else 0):
                await anyio.lowlevel.checkpoint()
            return await super().retrieve(request)

    class AskInParallel(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            async with anyio.create_task_group() as group:
                for query in ("slow", "quick"):
                    group.start_soon(tools.retriever.retrieve, tools.settings.request(query))
            return Attempt(FINE)

    both = replace(contestant("a", AskInParallel()), evidence=SlowFirst())
    record = anyio.run(run_one, both, QUESTIONS[0])
    assert [retrieval.request.query for retrieval in record.retrievals] == ["slow", "quick"]


class Elsewhere(OneHit):
    """The other source: its documents are not the index's."""

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        return Retrieval(request, (Hit("w1", "w1", 1, 1.0),))


class AskBoth(AskOnce):
    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        assert tools.external is not None
        for source, query in ((tools.retriever, "a"), (tools.external, "b"), (tools.retriever, "c")):
            await source.retrieve(tools.settings.request(query))
        assert tools.external.passage("w1").doc_id == "w1"
        return Attempt(Answer("x", abstained=False, retrieved_ids=("d1", "w1"), used_ids=("w1",)))


def test_both_sources_are_on_the_record_in_the_order_of_asking() -> None:
    record = anyio.run(run_one, replace(contestant("a", AskBoth()), external=Elsewhere()), QUESTIONS[0])
    assert [(one.request.query, one.hits[0].doc_id) for one in record.retrievals] == [
        ("a", "d1"),
        ("b", "w1"),
        ("c", "d1"),
    ]
    assert record.answer is not None
    assert record.answer.used_ids == ("w1",)


def test_without_another_source_there_is_none() -> None:
    assert failure_of(AskBoth()).type == "AssertionError"
