from __future__ import annotations

import pytest

from arena.metrics.retrieval import broken_hop, hop_coverage, hop_recall

CHAIN = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("found", "coverage", "broken", "by_hop"),
    [
        ("abcd", 1.0, None, [1.0, 1.0, 1.0, 1.0]),
        ("dcba", 1.0, None, [1.0, 1.0, 1.0, 1.0]),
        ("abd", 0.5, 3, [1.0, 1.0, 0.0, 1.0]),
        ("bcd", 0.0, 1, [0.0, 1.0, 1.0, 1.0]),
        ("abcx", 0.75, 4, [1.0, 1.0, 1.0, 0.0]),
        ("", 0.0, 1, [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_a_chain_holds_up_to_its_first_missing_link(
    found: str, coverage: float, broken: int | None, by_hop: list[float]
) -> None:
    assert (hop_coverage(found, CHAIN), broken_hop(found, CHAIN)) == (coverage, broken)
    assert [hop_recall(found, CHAIN, number) for number in (1, 2, 3, 4)] == by_hop


def test_one_document_may_serve_two_hops() -> None:
    assert (hop_coverage(["a"], ("a", "a", "b")), broken_hop(["a"], ("a", "a", "b"))) == (2 / 3, 3)


def test_a_hop_that_the_question_has_not_is_undefined() -> None:
    assert [hop_recall(["a"], ("a", "b"), number) for number in (-1, 0, 3)] == [None, None, None]
    assert (hop_coverage(["a"], ()), broken_hop(["a"], ())) == (None, None)
