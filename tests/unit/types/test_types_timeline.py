from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.types import LLMCall, Retrieval, RetrievalRequest, RetrievalSeconds, RunRecord
from arena.types.evidence import Activity, held_up_seconds
from tests.samples import answered, call

SECONDS = st.integers(0, 20).map(float)
ACTIVITIES = st.lists(st.builds(Activity, start=SECONDS, waiting=SECONDS, service=SECONDS), max_size=6)


@pytest.mark.parametrize(
    ("activities", "held_up"),
    [
        ([], 0),
        ([Activity(0, 2, 1)], 2),
        ([Activity(0, 2, 1), Activity(5, 3, 1)], 5),
        # One slot, one question: they wait for each other only.
        ([Activity(0, 0, 1), Activity(0, 1, 1), Activity(0, 2, 1), Activity(0, 3, 1), Activity(0, 4, 1)], 0),
        # The same behind another question that holds the slot for 10 s.
        ([Activity(0, 10, 1), Activity(0, 11, 1), Activity(0, 12, 1)], 10),
        # Waits that overlap count once.
        ([Activity(0, 4, 0), Activity(1, 4, 0), Activity(7, 1, 0)], 6),
        # A search in service all the while a call waits.
        ([Activity(0, 3, 1), Activity(0, 0, 3)], 0),
        # Where it lies in time is unknown.
        ([Activity(None, 3, 1), Activity(0, 0, 3)], 3),
    ],
)
def test_by_hand(activities: list[Activity], held_up: float) -> None:
    assert held_up_seconds(activities) == held_up


@given(ACTIVITIES)
def test_by_counting_every_second(activities: list[Activity]) -> None:
    waiting, served = set[int](), set[int]()
    for one in activities:
        assert one.start is not None
        sent = int(one.start + one.waiting)
        waiting.update(range(int(one.start), sent))
        served.update(range(sent, int(sent + one.service)))
    assert held_up_seconds(activities) == len(waiting - served)


@given(ACTIVITIES, st.randoms())
def test_the_order_does_not_matter(activities: list[Activity], rng: Random) -> None:
    shuffled = list(activities)
    rng.shuffle(shuffled)
    assert held_up_seconds(shuffled) == held_up_seconds(activities)


def record(wall_seconds: float, *calls: LLMCall, retrievals: tuple[RetrievalSeconds, ...] = ()) -> RunRecord:
    request = RetrievalRequest("q", "dense", 5)
    return replace(
        answered("q1", "x"),
        calls=calls,
        retrievals=tuple(Retrieval(request, (), seconds) for seconds in retrievals),
        wall_seconds=wall_seconds,
    )


def asked(started: float, queue: float, service: float, backoff: float = 0.0) -> LLMCall:
    return call(started_seconds=started, queue_seconds=queue, service_seconds=service, backoff_seconds=backoff)


def test_queueing_and_backing_off_are_no_latency_and_service_is() -> None:
    assert record(10.0, asked(0, 2, 1, backoff=3), asked(6, 0, 4)).latency_seconds == 5.0


def test_parallel_calls_are_what_the_question_itself_took() -> None:
    calls = [asked(0, place, 1) for place in range(5)]
    assert record(5.0, *calls).latency_seconds == 5.0


def test_a_retrieval_waits_and_works_like_a_call() -> None:
    seconds = RetrievalSeconds(embed=1, search=1, rerank=1, queue=4, started=0)
    assert record(8.0, asked(7, 0, 1), retrievals=(seconds,)).latency_seconds == 4.0


def test_a_query_embedded_before_is_embedded_again() -> None:
    seconds = RetrievalSeconds(search=1, known_embed=2, queue=4, started=0)
    assert record(5.0, retrievals=(seconds, replace(seconds, started=0))).latency_seconds == 5.0


@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS, SECONDS), max_size=5), SECONDS)
def test_latency_is_never_negative_nor_more_than_the_wall_shows(
    calls: list[tuple[float, float, float, float]], wall_seconds: float
) -> None:
    latency_seconds = record(wall_seconds, *(asked(*one) for one in calls)).latency_seconds
    assert 0.0 <= latency_seconds <= wall_seconds
