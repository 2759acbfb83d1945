from __future__ import annotations

import pytest

from experiments.studies.review.agreement import commonest, concord, review_criterion
from experiments.studies.review.reading import Rating
from experiments.studies.review.sheet import Mark


def said(rater: str, marks: str, criterion: str = "correct", repeat: int = 0) -> list[Rating]:
    """One mark an answer, from q0 on: y, n, - (na); a blank is no mark."""
    read: dict[str, Mark] = {"y": "y", "n": "n", "-": "na"}
    return [
        Rating(f"r-{number}", "a", f"q{number}", rater, repeat, {criterion: read[mark]})
        for number, mark in enumerate(marks)
        if mark != " "
    ]


def values(*values: float) -> dict[tuple[str, str], float]:
    return {("a", f"q{number}"): value for number, value in enumerate(values)}


def test_the_commonest_mark_or_none() -> None:
    assert commonest(["y", "n", "y"]) == "y"
    assert commonest(["y", "n"]) is None
    assert commonest(["y", "n", "na", "na"]) == "na"
    assert commonest([]) is None


def test_three_raters_by_hand() -> None:
    """Pairs over q0 to q3: Anna and Ben 3 of 4 alike; Cleo marked two of them."""
    found = review_criterion("correct", said("Anna", "yynn-") + said("Ben", "ynnny") + said("Cleo", "y y -"), {})
    assert (found.n, found.yes, found.no, found.not_applicable, found.tied) == (5, 1, 2, 1, 1)
    assert (found.shared, found.mixed) == (4, 1)
    pairs = {(pair.first, pair.second): pair for pair in found.raters}
    assert (pairs["Anna", "Ben"].n, pairs["Anna", "Ben"].share) == (4, 0.75)
    assert pairs["Anna", "Ben"].kappa == pytest.approx(0.5)
    assert (pairs["Anna", "Ben"].only_first, pairs["Anna", "Ben"].only_second) == (1, 0)
    assert (pairs["Ben", "Cleo"].n, pairs["Ben", "Cleo"].share) == (2, 0.5)
    assert found.alpha is not None
    assert found.alpha < 1.0


def test_a_rater_who_repeats_has_one_voice_and_a_constancy_of_its_own() -> None:
    ratings = said("Anna", "yyn") + said("Anna", "ynn", repeat=1) + said("Ben", "yyn")
    found = review_criterion("correct", ratings, {})
    assert (found.n, found.yes, found.no, found.tied) == (3, 2, 1, 0)
    (pair,) = found.raters
    assert (pair.n, pair.share, pair.kappa) == (2, 1.0, 1.0)
    (anna,) = found.within
    assert (anna.rater, anna.n) == ("Anna", 3)
    assert anna.share == pytest.approx(2 / 3)
    assert anna.alpha == pytest.approx(1 - 5 * 2 / (6 * 6 - 2 * 3 * 3))


def test_people_are_held_against_the_judge_and_against_exact_match() -> None:
    scores = {
        "answer_em": values(1.0, 0.0, 0.0),
        "answer_accuracy": values(1.0, 0.5, 0.75),
        "answer_f1": values(0, 0, 0),
    }
    found = review_criterion("correct", said("Anna", "yyn-"), scores)
    by_metric = {pair.first: pair for pair in found.others}
    assert set(by_metric) == {"answer_em", "answer_accuracy"}
    assert (by_metric["answer_em"].n, by_metric["answer_em"].only_second) == (3, 1)
    assert (by_metric["answer_accuracy"].only_first, by_metric["answer_accuracy"].only_second) == (1, 1)


def test_every_statement_is_supported_only_at_full_faithfulness() -> None:
    found = review_criterion(
        "every_statement_supported",
        said("Anna", "yn", "every_statement_supported"),
        {"faithfulness": values(1.0, 0.8)},
    )
    (judge,) = found.others
    assert (judge.first, judge.share, judge.kappa) == ("faithfulness", 1.0, 1.0)


def test_where_nothing_can_be_said_there_is_none() -> None:
    assert concord("a", "b", []).share is None
    assert concord("a", "b", [(True, True)]).kappa is None
    alone = review_criterion("correct", said("Anna", "yy"), {})
    assert (alone.alpha, alone.raters, alone.within, alone.others) == (None, (), (), ())
    assert review_criterion("right_format", said("Anna", "y"), {}).n == 0
