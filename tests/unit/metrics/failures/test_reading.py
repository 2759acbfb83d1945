from __future__ import annotations

import pytest

from arena.metrics.failures import FailureFinding, find_failure
from tests.unit.metrics.failures.chain_cases import case, record, scores


def found(text: str, used: tuple[str, ...] = ("d1", "d2", "d3", "d4"), **changes: object) -> str:
    one = case(record(text, used), **changes)
    finding = find_failure(one, scores(one))
    assert finding == FailureFinding(finding.failure)
    return finding.failure


@pytest.mark.parametrize("text", ["Tammerhold", "a former glassblower", "the Orlen Weir, bridged in 1871"])
def test_what_stands_in_the_evidence_is_a_wrong_fact_of_it(text: str) -> None:
    assert found(text) == "reader_miss"


@pytest.mark.parametrize("text", ["the Sarn estuary", "the Quennick School", "The town is governed by the Sarn."])
def test_what_stands_in_other_passages_alone_is_a_distractor(text: str) -> None:
    assert found(text) == "shown_but_ignored"


@pytest.mark.parametrize("text", ["Brellin", "1964", "The town is governed by Jorun Vask.", "Brellin of Tammerhold"])
def test_what_stands_in_no_shown_passage_is_a_hallucination(text: str) -> None:
    assert found(text) == "hallucination"


def test_a_distractor_that_was_not_shown_makes_a_hallucination() -> None:
    assert found("the Sarn estuary", ("d1", "d2")) == "hallucination"


def test_what_no_single_passage_holds_but_all_together_do_is_misread() -> None:
    assert found("politics estuary glassblowing bridged") == "reader_miss"


@pytest.mark.parametrize("text", ["", "yes", "the source of the Orlen Weir"])
def test_an_answer_that_adds_nothing_to_the_question_is_misread(text: str) -> None:
    assert found(text, ("d1", "d2")) == "reader_miss"


def test_texts_that_are_not_known_leave_the_reader_to_blame() -> None:
    assert found("Brellin", ("d1", "d2", "elsewhere")) == "reader_miss"


def test_without_named_evidence_only_an_invention_can_be_told() -> None:
    nameless = {"supporting_ids": (), "hop_order": None}
    assert found("Brellin", ("d1",), **nameless) == "hallucination"
    assert found("1871", ("d1",), **nameless) == "unexplained"
    assert found("1871", ("elsewhere",), **nameless) == "unexplained"
