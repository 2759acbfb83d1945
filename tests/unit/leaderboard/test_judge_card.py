from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from arena.judges.reading import JudgeCounts
from arena.leaderboard.judge_card import JudgeCard, summarise_judges
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import JudgeMetric, Partial, Score, Verdict, VerdictPart
from tests.samples import call


def verdict(
    question: str,
    value: float | None,
    *,
    repeat: int = 0,
    metric: JudgeMetric = "answer_accuracy",
    partial: Partial | None = None,
    ratings: Sequence[float | None] = (),
    sha: str = "judge_1",
) -> Verdict:
    reason = None if value is not None else PARTLY_JUDGED if partial else JUDGE_FAILED
    parts = tuple(VerdictPart(f"judge_{n}", rating) for n, rating in enumerate(ratings, 1))
    score = Score(metric, value, reason, partial)
    calls = (call(input_tokens=100, output_tokens=5), call(input_tokens=50, output_tokens=None))
    return Verdict("cell", question, metric, "openai:gpt-x", sha, "subject", repeat, score, parts, calls[:1])


def card_of(*added: tuple[Verdict, float | None, bool | None], models: Sequence[str] = ()) -> JudgeCard:
    tally = JudgeCounts()
    for one, em, human in added:
        tally.add(one, em=em, human=human)
    (card,) = summarise_judges(tally, models)
    return card


def test_a_card_counts_what_was_judged_in_whole_and_in_part() -> None:
    card = card_of(
        (verdict("q1", 1.0), None, None),
        (verdict("q2", None, partial=Partial(0.5, 0.0, 0.5)), None, None),
        (verdict("q3", None), None, None),
        models=["openai:gpt-4.1", "openai:qwen", "openai:gpt-4.1"],
    )
    assert (card.due, card.judged, card.partly, card.repeats) == (3, 1, 1, 1)
    assert card.mean is None, "half of what is due is not known"
    assert card.same_family == ["openai:gpt-4.1"]
    assert (card.calls, card.input_tokens, card.output_tokens, card.usd) == (3, 300, 15, None)
    assert card.spending is not None
    assert card.spending.withheld == "no_price"


def test_repeats_tell_the_judges_own_spread() -> None:
    repeated = [("q1", 0.0), ("q1", 1.0), ("q2", 0.5), ("q2", 0.5), ("q3", 0.75), ("q3", 0.25)]
    card = card_of(*[(verdict(name, value, repeat=n % 2), None, None) for n, (name, value) in enumerate(repeated)])
    assert card.own_sd == pytest.approx(math.sqrt((0.5 + 0.0 + 0.125) / 3))
    assert card.mean == pytest.approx(0.5)
    assert card.repeats == 2


def test_judged_once_there_is_no_spread() -> None:
    assert card_of((verdict("q1", 1.0), None, None), (verdict("q2", 0.0), None, None)).own_sd is None


def test_split_ratings_are_counted_where_both_are_there() -> None:
    card = card_of(
        (verdict("q1", 1.0, ratings=(4, 4)), None, None),
        (verdict("q2", 0.75, ratings=(4, 2)), None, None),
        (verdict("q3", None, ratings=(4, None)), None, None),
    )
    assert card.split_share == 0.5
    assert card_of((verdict("q1", 1.0, metric="faithfulness"), None, None)).split_share is None


@pytest.mark.parametrize(("n", "constant"), [(9, None), (10, 0.25)])
def test_one_value_for_every_answer_is_told(n: int, constant: float | None) -> None:
    assert card_of(*[(verdict(f"q{i}", 0.25), None, None) for i in range(n)]).constant == constant
    assert card_of(*[(verdict(f"q{i}", i / n), None, None) for i in range(n)]).constant is None


def test_agreement_with_exact_match_and_with_people() -> None:
    rows = [(1.0, 1.0, True), (0.75, 0.0, True), (0.5, 0.0, False), (0.0, 1.0, False), (0.0, None, None)]
    card = card_of(*[(verdict(f"q{i}", value), em, human) for i, (value, em, human) in enumerate(rows)])
    match, people = card.agreements
    assert (match.other, match.n, match.share, match.kappa) == ("answer_em", 4, 0.5, 0.0)
    assert (match.both, match.neither, match.only_judge, match.only_other) == (1, 1, 1, 1)
    assert (people.other, people.n, people.share, people.kappa) == ("human", 4, 1.0, 1.0)


def test_a_metric_that_rates_no_answers_agrees_with_nobody() -> None:
    assert card_of((verdict("q1", 1.0, metric="faithfulness"), 1.0, True)).agreements == []
    assert card_of((verdict("q1", None), 1.0, True)).agreements == []


def test_two_settings_of_a_judge_are_two_cards() -> None:
    tally = JudgeCounts()
    for sha in ("judge_1", "judge_2"):
        tally.add(verdict("q1", 1.0, sha=sha), em=None, human=None)
    assert [card.judge_sha for card in summarise_judges(tally)] == ["judge_1", "judge_2"]
    assert summarise_judges(JudgeCounts()) == []
