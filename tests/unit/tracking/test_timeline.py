from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arena.tracking.events import Moment, timeline
from arena.types import Decision, Retrieval, RetrievalRequest, RetrievalSeconds, RunRecord
from tests.samples import answered, call


def record(calls: list[tuple[str, float]], decisions: list[str], retrievals: tuple[float, ...] = ()) -> RunRecord:
    """Calls (role, start) of 0.2 s, retrievals of 0.1 s, decisions of these nodes."""
    found = tuple(
        Retrieval(RetrievalRequest("q", "dense", 5), (), RetrievalSeconds(search=0.1, started=start))
        for start in retrievals
    )
    return replace(
        answered("q1", "Ostrand"),
        retrievals=found,
        calls=tuple(call(role=role, started_seconds=start) for role, start in calls),
        decisions=tuple(Decision(node, "yes") for node in decisions),
    )


def test_an_activity_lies_where_it_was_asked_for_and_includes_its_wait() -> None:
    one = record([("generate", 1.0)], [])
    waited = replace(one, calls=(call(started_seconds=1.0, queue_seconds=0.5, backoff_seconds=0.25),))
    assert timeline(waited).calls == ((1.0, 1.95),)


def test_an_activity_without_a_start_follows_the_one_before() -> None:
    one = replace(record([], []), calls=(call(started_seconds=0.5), call()))
    assert timeline(one).calls == ((0.5, 0.7), (0.7, 0.8999999999999999))


def test_a_decision_ends_the_call_of_its_node() -> None:
    one = record([("grade", 0.0), ("grade", 1.0), ("generate", 2.0)], ["grade", "grade"])
    assert timeline(one).decisions == (Moment(0.2, of_its_call=True), Moment(1.2, of_its_call=True))


def test_without_a_call_of_its_own_a_decision_lies_between_its_neighbours() -> None:
    one = record([("grade", 1.0), ("refine", 2.0), ("generate", 3.0)], ["route", "grade", "act"], retrievals=(0.0,))
    first, second, third = timeline(one).decisions
    assert first == Moment(1.2, of_its_call=False)
    assert second == Moment(1.2, of_its_call=True)
    assert third == Moment(3.2, of_its_call=False)


def test_steps_of_a_loop_are_spread_over_it() -> None:
    one = record([("reason", 0.1), ("reason", 0.4)], ["query", "collect"], retrievals=(0.0, 0.3))
    assert [moment.seconds for moment in timeline(one).decisions] == [0.30000000000000004, 0.6000000000000001]


def test_nothing_happened() -> None:
    assert timeline(record([], ["route"])).decisions == (Moment(0.0, of_its_call=False),)


@given(
    st.lists(st.sampled_from(["grade", "route", "generate"]), max_size=6),
    st.lists(st.sampled_from(["grade", "route", "act"]), max_size=6),
)
def test_every_decision_has_a_moment_and_guesses_never_go_back(roles: list[str], nodes: list[str]) -> None:
    moments = timeline(record([(role, float(at)) for at, role in enumerate(roles)], nodes)).decisions
    assert len(moments) == len(nodes)
    guessed = [moment.seconds for moment in moments if not moment.of_its_call]
    assert guessed == sorted(guessed)
