from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.answer import evaluate
from arena.types.data import OfficialGold, OfficialPrediction

GOLD = OfficialGold("2hop__1_2", ("The U.S. Navy", "USN"), (1, 5), answerable=True)
TWIN = OfficialGold("2hop__1_2", (), (), answerable=False)
RIGHT = OfficialPrediction("2hop__1_2", "us navy", (5, 1), answerable=True)
REFUSED = OfficialPrediction("2hop__1_2", "", (), answerable=False)
TEXTS = st.text(max_size=12) | st.sampled_from(["", "the", "U.S.", "Navy", "us navy", "well-known", "wellknown"])
GROUPED = ("group_answer_sufficiency_f1", "group_support_sufficiency_f1")


def answer_scores(predicted: str, *answers: str) -> tuple[float, float]:
    """EM and F1 of one answerable record."""
    scores = evaluate([replace(RIGHT, answer=predicted)], [replace(GOLD, answers=answers)])
    return scores["answer_em"], scores["answer_f1"]


@pytest.mark.parametrize(
    ("predicted", "answers", "em", "f1"),
    [
        ("us navy", ["The U.S. Navy"], 1.0, 1.0),
        ("US NAVY!", ["the u.s. navy"], 1.0, 1.0),
        ("Paris", ["Paris, France"], 0.0, 2 / 3),
        ("well known", ["well-known"], 0.0, 0.0),
        ("wellknown", ["well-known"], 1.0, 1.0),
        ("well\u2013known", ["well-known"], 0.0, 0.0),
        ("", ["the"], 1.0, 1.0),
        ("", ["Paris"], 0.0, 0.0),
        ("Paris", ["the"], 0.0, 0.0),
        ("\u00c9mile Zola", ["\u00e9mile zola"], 1.0, 1.0),
        ("Emile Zola", ["\u00c9mile Zola"], 0.0, 0.5),
        ("tick tick", ["tick tock"], 0.0, 0.5),
        ("NYC", ["New York City", "NYC"], 1.0, 1.0),
        ("New York", ["NYC", "New York City"], 0.0, 0.8),
        ("an apple a day", ["apple day"], 1.0, 1.0),
        ("  Paris\u00a0", ["Paris"], 1.0, 1.0),
    ],
)
def test_answers_by_hand(predicted: str, answers: list[str], em: float, f1: float) -> None:
    assert answer_scores(predicted, *answers) == pytest.approx((em, f1))


@pytest.mark.parametrize(
    ("idxs", "em", "f1"), [((1, 2, 5), 0.0, 0.8), ((5, 1, 5), 1.0, 1.0), ((), 0.0, 0.0), ((2,), 0.0, 0.0)]
)
def test_support_by_hand(idxs: tuple[int, ...], em: float, f1: float) -> None:
    scores = evaluate([replace(RIGHT, support_idxs=idxs)], [GOLD])
    assert (scores["support_em"], scores["support_f1"]) == pytest.approx((em, f1))


def test_the_answerable_setting_has_no_groups() -> None:
    assert list(evaluate([RIGHT], [GOLD])) == ["answer_em", "answer_f1", "support_em", "support_f1"]


@pytest.mark.parametrize(
    ("answerable", "twin_answerable", "group"),
    [(True, False, 0.8), (True, True, 0.0), (False, False, 0.0), (False, True, 0.0)],
)
def test_a_group_scores_only_if_sufficiency_is_right_on_both_twins(
    answerable: bool, twin_answerable: bool, group: float
) -> None:
    predictions = [
        replace(RIGHT, answer="navy of us", support_idxs=(1, 2, 5), answerable=answerable),
        replace(REFUSED, answerable=twin_answerable),
    ]
    for order in ((0, 1), (1, 0)):
        scores = evaluate([predictions[place] for place in order], [(GOLD, TWIN)[place] for place in order])
        assert [scores[name] for name in GROUPED] == pytest.approx([group, group])
        assert [scores["answer_f1"], scores["support_f1"]] == pytest.approx([0.8, 0.8])


def test_what_is_said_of_an_unanswerable_record_moves_only_the_groups() -> None:
    loud = replace(REFUSED, answer="us navy", support_idxs=(9,))
    assert evaluate([RIGHT, loud], [GOLD, TWIN]) == evaluate([RIGHT, REFUSED], [GOLD, TWIN])
    refused = evaluate([RIGHT, replace(REFUSED, answerable=True)], [GOLD, TWIN])
    assert {name: value for name, value in refused.items() if value != 1.0} == dict.fromkeys(GROUPED, 0.0)


def test_averages_are_over_answerable_records_and_groups_over_ids() -> None:
    second = [replace(one, question_id="3hop1__1_2_3") for one in (RIGHT, REFUSED)]
    labels = [replace(one, question_id="3hop1__1_2_3") for one in (GOLD, TWIN)]
    wrong = replace(second[0], answer="army", support_idxs=(1,))
    scores = evaluate([RIGHT, REFUSED, wrong, second[1]], [GOLD, TWIN, *labels])
    assert scores == {
        "answer_em": 0.5,
        "answer_f1": 0.5,
        "support_em": 0.5,
        "support_f1": pytest.approx((1 + 2 / 3) / 2),
        "group_answer_sufficiency_f1": 0.5,
        "group_support_sufficiency_f1": pytest.approx((1 + 2 / 3) / 2),
    }


def test_nothing_is_rounded() -> None:
    assert answer_scores("Paris", "Paris, France")[1] == 2 / 3


@pytest.mark.parametrize(
    ("predictions", "gold", "complaint"),
    [
        ([RIGHT], [replace(GOLD, question_id="other")], "'2hop__1_2' stands where 'other' should"),
        ([RIGHT], [GOLD, TWIN], "1 predictions for 2 records"),
        ([REFUSED], [TWIN], "no answerable record"),
        ([], [], "no answerable record"),
        ([RIGHT, REFUSED, REFUSED], [GOLD, TWIN, TWIN], "one answerable and one unanswerable"),
        ([RIGHT, REFUSED], [GOLD, replace(TWIN, question_id="x")], "'2hop__1_2' stands where 'x' should"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    predictions: list[OfficialPrediction], gold: list[OfficialGold], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        evaluate(predictions, gold)


@given(
    st.lists(
        st.tuples(TEXTS, TEXTS, TEXTS, st.sets(st.integers(0, 4)), st.booleans(), st.booleans()), min_size=1, max_size=5
    )
)
def test_groups_never_score_above_their_answerable_records(
    rows: list[tuple[str, str, str, set[int], bool, bool]],
) -> None:
    predictions, gold = [], []
    for number, (said, answer, alias, idxs, answerable, twin_answerable) in enumerate(rows):
        question_id = f"q{number}"
        gold += [OfficialGold(question_id, (answer, alias), (0, 1), True), OfficialGold(question_id, (), (), False)]
        predictions += [
            OfficialPrediction(question_id, said, tuple(idxs), answerable),
            OfficialPrediction(question_id, "", (), twin_answerable),
        ]
    scores = evaluate(predictions, gold)
    assert all(0.0 <= score <= 1.0 for score in scores.values())
    assert scores["answer_em"] <= scores["answer_f1"]
    assert scores["group_answer_sufficiency_f1"] <= scores["answer_f1"]
    assert scores["group_support_sufficiency_f1"] <= scores["support_f1"]
    shuffled = [place ^ 1 for place in range(len(gold))]
    assert evaluate([predictions[place] for place in shuffled], [gold[place] for place in shuffled]) == scores
