from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from arena.types import Hit, Passage, Retrieval, RetrievalRequest
from indexing.retriever import Batched


@dataclass
class SlowShelf:
    """Answers each request with a hit of its own, and notes how many came at once."""

    sizes: list[int] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        return (await self.retrieve_many([request]))[0]

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]:
        self.sizes.append(len(requests))
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        if any(request.query == "broken" for request in requests):
            raise ValueError("no such thing")
        return tuple(Retrieval(request, (Hit(request.query, request.query, 1, 1.0),)) for request in requests)

    def passage(self, passage_id: str) -> Passage:
        return Passage(passage_id, passage_id, "", "", 0, 0)


def ask(queries: Sequence[str], shelf: SlowShelf) -> list[Retrieval | Exception]:
    found: dict[int, Retrieval | Exception] = {}

    async def main() -> None:
        batched = Batched(shelf)

        async def one(place: int, query: str) -> None:
            try:
                found[place] = await batched.retrieve(RetrievalRequest(query, "dense", 1))
            except ValueError as error:
                found[place] = error

        async with anyio.create_task_group() as group:
            for place, query in enumerate(queries):
                group.start_soon(one, place, query)

    anyio.run(main)
    return [found[place] for place in range(len(queries))]


def test_everyone_gets_their_own_answer_and_waiting_requests_travel_together() -> None:
    shelf = SlowShelf()
    queries = [f"q{number}" for number in range(10)]
    answers = ask(queries, shelf)
    assert [answer.request.query for answer in answers if isinstance(answer, Retrieval)] == queries
    assert sum(shelf.sizes) == 10
    assert len(shelf.sizes) <= 2


def test_the_same_request_twice_is_two_answers() -> None:
    first, second = ask(["q", "q"], SlowShelf())
    assert first == second


def test_a_failure_reaches_everyone_in_its_batch() -> None:
    answers = ask(["broken", "q1", "q2"], SlowShelf())
    assert isinstance(answers[0], ValueError)
    assert all(isinstance(answer, ValueError | Retrieval) for answer in answers)


@pytest.mark.parametrize("asked", [1, 2, 30])
def test_no_request_is_lost_at_any_load(asked: int) -> None:
    assert len(ask([str(number) for number in range(asked)], SlowShelf())) == asked


def test_whoever_is_given_up_does_not_take_the_others_of_the_batch_along() -> None:
    found: list[Retrieval] = []

    async def main() -> None:
        batched = Batched(SlowShelf())
        given_up = anyio.CancelScope()

        async def first() -> None:
            with given_up:
                await batched.retrieve(RetrievalRequest("first", "dense", 1))

        async def later(query: str) -> None:
            found.append(await batched.retrieve(RetrievalRequest(query, "dense", 1)))

        async with anyio.create_task_group() as group:
            group.start_soon(first)
            for query in ("a", "b"):
                group.start_soon(later, query)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            given_up.cancel()

    anyio.run(main)
    assert sorted(one.request.query for one in found) == ["a", "b"]
