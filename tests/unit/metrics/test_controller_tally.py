from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.controllers import ControllerCounts, GraderCounts, RetrievalCounts, Rewrite
from arena.types import GOLD_MODE, Decision, RunRecord
from tests.samples import cell, failed
from tests.unit.metrics.failures.chain_cases import case, record, retrieval


def tally(*records: RunRecord) -> ControllerCounts:
    counted = ControllerCounts()
    for one in records:
        counted.add(case(one))
    return counted


def graded(**choices: str) -> RunRecord:
    decisions = tuple(Decision("evaluate", choice, subject=doc_id) for doc_id, choice in choices.items())
    return record("x", tuple(choices), decisions=decisions)


def test_verdicts_are_held_against_the_gold_documents() -> None:
    counted = tally(
        graded(d1="correct", d3="correct", d4="incorrect"),
        graded(d1="ambiguous", d2="incorrect", d3="ambiguous", d4="correct"),
    )
    assert counted.graders == {"evaluate": GraderCounts(judged=7, gold=3, approved=3, approved_gold=1, undecided=2)}
    assert counted.graders["evaluate"].precision == 1 / 3
    assert counted.graders["evaluate"].recall == 1 / 3


def test_a_grader_that_approves_nothing_has_no_precision() -> None:
    grader = tally(graded(d1="incorrect")).graders["evaluate"]
    assert (grader.precision, grader.recall) == (None, 0.0)
    assert tally(graded(d4="correct")).graders["evaluate"].recall is None


def test_what_has_no_gold_is_not_counted() -> None:
    unanswerable = replace(graded(d1="correct"), question_id="q5")
    assert tally(unanswerable).graders == {}
    assert tally(unanswerable).retrievals == RetrievalCounts()
    assert tally(failed("q1")) == ControllerCounts()


def test_asking_again_is_worth_the_gold_it_adds() -> None:
    rewritten = record(
        "x",
        ("d1", "d2"),
        retrieval("d1", "d4", query="q"),
        retrieval("d3", query="q, other"),
        retrieval("d2", "d4", query="q, last"),
        retrieval("d2", query="q, last"),
    )
    counted = tally(rewritten).retrievals
    assert counted == RetrievalCounts(
        retrievals=4, wasted=2, needless=1, repeated=1, rewrites=[Rewrite(before=0.5, after=1.0, alone=0.5)]
    )


def test_the_same_words_again_are_no_rewrite() -> None:
    counted = tally(record("x", ("d1",), retrieval("d1"), retrieval("d1")), record("x", ("d3",))).retrievals
    assert counted == RetrievalCounts(retrievals=3, wasted=2, repeated=1)


def test_gold_that_is_handed_over_is_no_retrieval() -> None:
    assert tally(record("x", of=cell("oracle", GOLD_MODE))).retrievals == RetrievalCounts()


FOUND = st.lists(st.sampled_from(["d1", "d2", "d3", "d4"]), max_size=4, unique=True).map(tuple)


@given(st.lists(st.tuples(FOUND, st.sampled_from(["q", "r", "s"])), min_size=1, max_size=5))
def test_asking_again_never_loses_gold(asked: list[tuple[tuple[str, ...], str]]) -> None:
    retrievals = [retrieval(*found, query=query) for found, query in asked]
    counted = tally(record("x", (), *retrievals)).retrievals
    assert 0 <= counted.needless <= counted.wasted <= counted.retrievals == len(asked)
    assert counted.retrievals - counted.wasted <= 2  # no more can be new than there is gold
    for rewrite in counted.rewrites:
        assert 0 <= rewrite.before <= rewrite.after <= 1
        assert rewrite.alone <= rewrite.after
