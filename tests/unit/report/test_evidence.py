from __future__ import annotations

from arena.report.question import GoldDocument, gold_beyond, gold_documents, lanes_of, use_of
from arena.types import Answer, Gold
from tests.samples import DOCUMENTS, GOLD

BY_ID = {one.doc_id: one for one in DOCUMENTS}
FIRST, SECOND = GoldDocument("d1", "Orlen Weir", (1,)), GoldDocument("d2", "Tammerhold", (2,))


def test_gold_stands_in_the_order_of_the_hops() -> None:
    gold = Gold("q", ("a",), ("d1", "d2"), ("d2", "d1"))
    assert [(one.doc_id, one.label) for one in gold_documents(gold, BY_ID)] == [("d2", "hop 1"), ("d1", "hop 2")]


def test_a_document_may_serve_several_hops_and_another_none() -> None:
    gold = Gold("q", ("a",), ("d1", "d2", "d3"), ("d1", "d2", "d1"))
    assert [one.label for one in gold_documents(gold, BY_ID)] == ["hops 1, 3", "hop 2", "gold"]


def test_without_an_order_no_hop_has_a_number() -> None:
    assert [one.label for one in gold_documents(GOLD["q4"], BY_ID)] == ["gold", "gold"]


def test_a_document_that_is_not_known_has_no_title() -> None:
    assert gold_documents(Gold("q", ("a",), ("gone",)), BY_ID) == (GoldDocument("gone", None, ()),)


def test_a_mark_says_what_became_of_a_document() -> None:
    answer = Answer("a", False, ("d1", "d2"), ("d1",), ())
    mark = use_of("d1", [FIRST], answer)
    assert (mark.gold, mark.used, mark.cited) == (FIRST, True, False)
    assert use_of("d2", [FIRST], answer).gold is None
    assert not use_of("d1", [FIRST], None).used


def test_gold_beyond_k_is_found_with_its_place_whole_or_in_pieces() -> None:
    assert gold_beyond(["d7", "d2", "d1#0003", "d1#x"], [FIRST, SECOND]) == [(2, SECOND), (3, FIRST)]
    assert gold_beyond(["d7", "d8"], [FIRST, SECOND]) == []
    assert gold_beyond([], [FIRST]) == []


def test_lanes_stand_in_the_order_of_a_retrieval() -> None:
    assert lanes_of(["late", "rerank", "dense", "sparse", "dense"]) == ["dense", "sparse", "rerank", "late"]
