from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.controllers import DecisionCounts
from arena.types import Decision, RunRecord
from tests.samples import answered, failed

CHANGES = st.lists(st.sampled_from(["evidence", "query", "answer"]), max_size=3).map(tuple)
DECISIONS = st.builds(
    Decision,
    node=st.sampled_from(["route", "stop", "grade"]),
    choice=st.sampled_from(["yes", "no"]),
    changed=CHANGES,
    tier=st.sampled_from([None, "T0", "T1", "T2"]),
    subject=st.sampled_from([None, "p1"]),
)


def asked(*decisions: Decision, question_id: str = "q1") -> RunRecord:
    """A question whose retrieval brought the passage p1."""
    return replace(answered(question_id, "x", ("p1",)), decisions=decisions)


def tally(*records: RunRecord) -> DecisionCounts:
    counted = DecisionCounts()
    for record in records:
        counted.add(record)
    return counted


def test_a_branch_counts_questions_times_and_what_it_changed() -> None:
    counted = tally(
        asked(
            Decision("go_on", "yes", changed=("query", "evidence")),
            Decision("go_on", "yes", changed=("query",)),
            Decision("go_on", "no"),
        ),
        asked(Decision("go_on", "no")),
    )
    yes, no = counted.controllers["go_on"].branches.values()
    assert (yes.choice, yes.questions, yes.times, yes.effective) == ("yes", 1, 2, 2)
    assert yes.altered == {"query": 2, "evidence": 1}
    assert (no.choice, no.questions, no.times, no.effective, no.altered) == ("no", 2, 2, 0, {})
    assert counted.controllers["go_on"].questions == 2


def test_a_controller_whose_branches_change_nothing_is_a_no_op() -> None:
    counted = tally(asked(Decision("grade", "good"), Decision("route", "on", changed=("evidence",))))
    assert counted.controllers["grade"].never_changed_anything
    assert not counted.controllers["route"].never_changed_anything


def test_verdicts_on_retrieved_passages_are_no_branches() -> None:
    verdicts = tally(asked(Decision("evaluate", "good", tier="T1", subject="p1"))).controllers["evaluate"]
    assert verdicts.only_judges
    assert not verdicts.never_changed_anything
    for other in (Decision("evaluate", "good"), Decision("evaluate", "good", tier="T1", subject="segment 1")):
        mixed = tally(asked(Decision("evaluate", "good", tier="T1", subject="p1"), other))
        assert mixed.controllers["evaluate"].never_changed_anything


def test_a_verdict_that_changes_something_is_a_branch() -> None:
    acting = tally(asked(Decision("retrieve", "yes", tier="T1", subject="p1", changed=("evidence",))))
    assert not acting.controllers["retrieve"].only_judges


def test_one_choice_on_every_question_is_a_habit() -> None:
    same = tally(asked(Decision("route", "B")), asked(Decision("route", "B")))
    assert same.always(same.controllers["route"]) == "B"
    once = tally(asked(Decision("route", "B")))
    assert once.always(once.controllers["route"]) is None
    both = tally(asked(Decision("route", "B")), asked(Decision("route", "C")))
    assert both.always(both.controllers["route"]) is None


def test_an_event_on_some_questions_is_no_habit() -> None:
    counted = tally(asked(Decision("allowance", "spent")), asked(Decision("allowance", "spent")), asked())
    assert counted.always(counted.controllers["allowance"]) is None


def test_the_lowest_tier_is_the_cells() -> None:
    assert tally(asked(Decision("a", "x", tier="T1"), Decision("a", "x"))).tier == "T1"
    mixed = tally(asked(Decision("a", "x", tier="T2")), asked(Decision("a", "x", tier="T0")))
    assert (mixed.tier, mixed.judgements) == ("T0", {"T0": 1, "T2": 1})
    assert tally(asked(Decision("a", "x"))).tier is None
    assert tally(asked(Decision("a", "x", tier="gold standard"))).tier is None


def test_failed_questions_are_not_counted() -> None:
    counted = tally(failed("q1"), asked(Decision("route", "B"), question_id="q2"))
    assert counted.questions == 1
    assert tally(failed("q1")) == DecisionCounts()


@given(st.lists(st.lists(DECISIONS, max_size=6).map(lambda made: asked(*made)), max_size=6))
def test_counts_add_up(records: list[RunRecord]) -> None:
    counted = tally(*records)
    branches = [branch for controller in counted.controllers.values() for branch in controller.branches.values()]
    made = [decision for record in records for decision in record.decisions]
    assert sum(branch.times for branch in branches) == len(made)
    assert sum(branch.effective for branch in branches) == sum(bool(decision.changed) for decision in made)
    assert sum(counted.judgements.values()) == sum(decision.tier is not None for decision in made)
    for controller in counted.controllers.values():
        assert all(1 <= branch.questions <= branch.times for branch in controller.branches.values())
        assert max(branch.questions for branch in controller.branches.values()) <= controller.questions <= len(records)
        assert not (controller.only_judges and controller.never_changed_anything)
