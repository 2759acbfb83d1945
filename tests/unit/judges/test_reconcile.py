from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.judges.reading import judged_sentences, judged_statements, share
from arena.types import Partial

STATEMENTS = st.lists(st.sampled_from(["a b", "c d", "e f", "g h", "i j"]), min_size=1, max_size=5, unique=True)
RETURNED = st.lists(st.tuples(st.sampled_from(["a b", "c d", "E F.", "x y", "g  h"]), st.integers(0, 1)), max_size=8)


@given(STATEMENTS, RETURNED)
def test_the_order_of_verdicts_makes_no_difference(sent: list[str], returned: list[tuple[str, int]]) -> None:
    other = sorted(returned, reverse=True)
    assert judged_statements(sent, returned) == judged_statements(sent, other)


@given(STATEMENTS, RETURNED)
def test_coverage_is_over_what_was_sent_whatever_came_back(sent: list[str], returned: list[tuple[str, int]]) -> None:
    parts = judged_statements(sent, returned)
    assert [part.name for part in parts] == sent
    reading = share(parts)
    judged = [part.value for part in parts if part.value is not None]
    if len(judged) == len(sent):
        assert reading.value == sum(judged) / len(sent)
    elif judged:
        known = reading.partial
        assert known is not None
        assert known.known == len(judged) / len(sent)
        assert 0 <= known.low <= known.high <= 1
        assert abs(known.high - known.low - (1 - known.known)) < 1e-9
    else:
        assert (reading.value, reading.partial) == (None, None)


def test_a_statement_that_is_sent_twice_is_judged_once() -> None:
    parts = judged_statements(["It rains.", "it rains"], [("IT RAINS", 1)])
    assert [part.value for part in parts] == [1.0, 1.0]


def test_sentences_that_no_statement_is_about_are_missing() -> None:
    parts = judged_sentences("Ann lives in Oslo. She was born in 1950. St. Olav is near.", [("Ann lives in Oslo", 1)])
    assert [(part.name, part.value) for part in parts] == [
        ("Ann lives in Oslo", 1.0),
        ("She was born in 1950.", None),
        ("St. Olav is near.", None),
    ]
    assert share(parts).partial == Partial(known=1 / 3, low=1 / 3, high=1.0)


def test_a_statement_may_be_fuller_or_shorter_than_its_sentence() -> None:
    fuller = judged_sentences("England", [("England won the 2020 world cup", 1)])
    assert [part.value for part in fuller] == [1.0]
    halves = judged_sentences(
        "Ann lives in Oslo and was born in Bergen.", [("Ann lives in Oslo", 1), ("born in Bergen", 0)]
    )
    assert [part.value for part in halves] == [1.0, 0.0]
