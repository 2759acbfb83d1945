from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics.case import Case
from arena.metrics.failures import FailureFinding, Missing, find_failure, first_missing, furthest
from arena.types import GOLD_MODE, Decision, Retrieval, RunRecord
from tests.samples import cell
from tests.unit.metrics.failures.chain_cases import case, record, retrieval, scores

CHAIN = ("d3", "d1", "d2")  # of three hops, in this order
CAPPED = Decision("exit", "cap", 8.0, 8.0, changed=("answer",))
FULL = Decision("collect", "full")


def of_chain(made: RunRecord, hops: int = 3) -> Case:
    return case(made, supporting_ids=tuple(sorted(CHAIN)), hop_order=CHAIN, hops=hops)


def found(made: RunRecord) -> FailureFinding:
    one = of_chain(made)
    return find_failure(one, scores(one))


@pytest.mark.parametrize(
    ("used", "missing"),
    [
        (("d1", "d2", "d3"), None),
        (("d4",), Missing("d3", 1, alone=True)),
        (("d1", "d2"), Missing("d3", 1, alone=True)),
        (("d3", "d2"), Missing("d1", 2, alone=False)),
        (("d1", "d3"), Missing("d2", 3, alone=False)),
    ],
)
def test_the_first_missing_hop_counts(used: tuple[str, ...], missing: Missing | None) -> None:
    assert first_missing(of_chain(record("x", used))) == missing


def test_without_an_order_any_other_evidence_is_a_start() -> None:
    unordered = {"supporting_ids": ("d1", "d2"), "hop_order": None}
    assert first_missing(case(record("x", ("d2",)), **unordered)) == Missing("d1", None, alone=False)
    assert first_missing(case(record("x", ("d3",)), **unordered)) == Missing("d1", None, alone=True)
    assert first_missing(case(record("x"), supporting_ids=(), hop_order=None)) is None
    one = case(record("x", ("d2",)), **unordered)
    assert find_failure(one, scores(one)) == FailureFinding("incomplete_chain", None, "d1")


@pytest.mark.parametrize(
    ("retrievals", "place"),
    [
        ([retrieval("d4")], "nowhere"),
        ([retrieval("d4", beyond=("d2", "d1"))], "beyond"),
        ([retrieval("d4", beyond=("d1#0003",))], "beyond"),
        ([retrieval("d4", beyond=("d11", "d#1", "xd1#0001", "d1#1", "d1#0001#7"))], "nowhere"),
        ([retrieval("d4", dropped=("d1",))], "dropped"),
        ([retrieval("d4", dropped=("d1",)), retrieval("d2", beyond=("d1",))], "beyond"),
        ([retrieval("d4", beyond=("d1",)), retrieval("d1")], "hits"),
    ],
)
def test_the_best_of_all_retrievals_counts(retrievals: list[Retrieval], place: str) -> None:
    assert furthest("d1", retrievals) == place


def test_a_later_hop_in_no_retrieval_breaks_the_chain_and_a_first_one_misses_the_index() -> None:
    assert found(record("Sarn", ("d3", "d4"))) == FailureFinding("incomplete_chain", 2, "d1")
    assert found(record("Sarn", ("d4",))) == FailureFinding("index_miss", 1, "d3")
    assert found(record("Sarn", ("d1", "d2"))) == FailureFinding("index_miss", 1, "d3")


def test_evidence_among_the_candidates_was_ranked_too_low() -> None:
    assert found(record("Sarn", ("d4",), retrieval("d4", beyond=("d3",)))) == FailureFinding("rank_miss", 1, "d3")
    assert found(record("Sarn", ("d3",), retrieval("d3", beyond=("d1",)))) == FailureFinding("rank_miss", 2, "d1")


def test_evidence_under_the_threshold_was_dropped_by_the_reranker() -> None:
    assert found(record("Sarn", ("d3",), retrieval("d3", dropped=("d1",)))) == FailureFinding(
        "dropped_by_reranker", 2, "d1"
    )


def test_evidence_that_was_retrieved_and_not_shown_was_dropped_by_the_grader() -> None:
    assert found(record("Sarn", ("d3",), retrieval("d3", "d1"))) == FailureFinding("dropped_by_grader", 2, "d1")
    later = record("Sarn", ("d4",), retrieval("d4", "d3"), retrieval("d4"))
    assert found(later) == FailureFinding("dropped_by_grader", 1, "d3")


def test_evidence_for_which_there_was_no_room_met_a_cap() -> None:
    full = record("Sarn", ("d3",), retrieval("d3"), retrieval("d1"), decisions=(FULL,))
    assert found(full) == FailureFinding("stopped_by_cap", 2, "d1")


def test_a_capped_loop_is_to_blame_only_while_it_was_finding_gold() -> None:
    finding = record("Sarn", ("d3", "d1"), retrieval("d3"), retrieval("d1"), decisions=(CAPPED,))
    assert found(finding) == FailureFinding("stopped_by_cap", 3, "d2")
    stuck = record("Sarn", ("d3", "d1"), retrieval("d3"), retrieval("d1"), retrieval("d4"), decisions=(CAPPED,))
    assert found(stuck) == FailureFinding("incomplete_chain", 3, "d2")
    once = record("Sarn", ("d3",), retrieval("d3"), decisions=(CAPPED,))
    assert found(once) == FailureFinding("incomplete_chain", 2, "d1")
    by_itself = record("Sarn", ("d3", "d1"), retrieval("d3"), retrieval("d1"), decisions=(Decision("exit", "marker"),))
    assert found(by_itself) == FailureFinding("incomplete_chain", 3, "d2")


def test_what_a_control_keeps_back_is_no_fault_of_an_index() -> None:
    control = cell("oracle_minus_one_hop", GOLD_MODE)
    assert found(record("Sarn", ("d1", "d2"), of=control)) == FailureFinding("withheld_by_control", 1, "d3")
    assert found(record("Sarn", ("d3", "d1"), of=control)) == FailureFinding("withheld_by_control", 3, "d2")


def test_whoever_never_asks_the_index_went_the_wrong_way() -> None:
    for decision in (Decision("classify", "A"), Decision("retrieve?", "no", changed=("evidence",))):
        silent = replace(record("Sarn", (), decisions=(decision,)), retrievals=())
        assert found(silent) == FailureFinding("wrong_route", 1, "d3")


def test_one_retrieval_for_several_hops_is_the_wrong_way() -> None:
    once = record("Sarn", ("d3",), retrieval("d3", beyond=("d1",)), decisions=(Decision("classify", "B"),))
    assert found(once) == FailureFinding("wrong_route", 2, "d1")
    single = of_chain(once, hops=1)
    assert find_failure(single, scores(single)) == FailureFinding("rank_miss", 2, "d1")
    all_shown = record("Sarn", CHAIN, decisions=(Decision("classify", "B"),))
    assert found(all_shown).failure != "wrong_route"
