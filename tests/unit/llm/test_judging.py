from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.labels import LEAST_MASS, check_labels, label_limit, read_distribution, read_judgement, read_label
from arena.llm.ledger import Ledger
from arena.protocols import Judgement, Message, Reply
from arena.types import CallAttempt
from tests.unit.llm.scripted_model import ScriptedModel, choice, saying, token

MESSAGES = (Message("user", "Is it relevant? Reply yes or no."),)
YES_NO = ("yes", "no")
GRADES = ("correct", "incorrect", "ambiguous")
LETTERS = ("A", "B", "C")


def shares_of(*written: Mapping[str, float], labels: Sequence[str] = YES_NO) -> tuple[dict[str, float], float] | None:
    """The distribution of a reply whose tokens are the first of each mapping, listed with the others."""
    found = read_distribution([choice(next(iter(one)), one) for one in written], labels)
    return None if found is None else (dict(found.probabilities), found.mass)


def approx(**shares: float) -> Any:
    return pytest.approx(shares)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ((), "at least two"),
        (("yes",), "at least two"),
        (("yes", ""), "must begin and end with a letter or a digit"),
        (("yes", " no"), "must begin and end"),
        (("yes", "[No]"), "must begin and end"),
        (("yes", "yes"), "must differ in their first letters"),
        (("relevant", "Really not"), "must differ in their first letters"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_the_callers_error(labels: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check_labels(labels)
    with pytest.raises(ValueError, match=said):
        anyio.run(lambda: Ledger(ScriptedModel(), lambda: 0.0).classify(MESSAGES, labels, role="r"))


@pytest.mark.parametrize("labels", [YES_NO, GRADES, LETTERS, ("1", "2", "3", "4", "5")])
def test_labels_in_use_are_fine(labels: tuple[str, ...]) -> None:
    check_labels(labels)
    assert 4 <= label_limit(labels) <= 7


def test_every_way_to_write_a_label_counts_for_it() -> None:
    listed = {
        "yes": 0.3,
        " Yes": 0.1,
        "YES.": 0.1,
        '"yes"': 0.05,
        "\u2581yes": 0.05,
        "ye": 0.1,
        "**no**": 0.1,
        "No": 0.1,
    }
    found = shares_of(listed | {"maybe": 0.06, "": 0.02, " ": 0.02})
    assert found is not None
    assert found[0] == approx(yes=0.7 / 0.9, no=0.2 / 0.9)
    assert found[1] == pytest.approx(0.9)


@pytest.mark.parametrize(
    "opening", [[" "], ["\n\n"], ['"'], ["**"], ["**", " "], ["\u2581"], ["\u0120"], ["("]], ids=repr
)
def test_the_label_is_read_behind_spaces_quotes_and_markdown(opening: list[str]) -> None:
    found = shares_of(*({text: 1.0} for text in opening), {"no": 0.9, "yes": 0.1})
    assert found is not None
    assert found[0] == approx(yes=0.1, no=0.9)


def test_a_label_that_is_not_listed_gets_the_most_it_can_have() -> None:
    found = shares_of({"correct": 0.6, "in": 0.2, "The": 0.05}, labels=GRADES)
    assert found is not None
    assert found[0] == approx(correct=0.6 / 0.85, incorrect=0.2 / 0.85, ambiguous=0.05 / 0.85)
    assert found[1] == pytest.approx(0.8)


def test_a_floor_is_never_more_than_what_the_listed_ones_leave() -> None:
    found = shares_of({"yes": 0.98})
    assert found is not None
    assert found[0] == approx(yes=0.98, no=0.02)
    certain = shares_of({"yes": 1.0, "no": 0.0})
    assert certain is not None
    assert 0.0 < certain[0]["no"] < 1e-8


@pytest.mark.parametrize(
    "written",
    [
        [],
        [{" ": 1.0}],
        [{"yes": 0.3, "no": 0.1, "The": 0.6}],
        [{"The": 1.0}, {" yes": 1.0}],
        # The chosen token goes on to another word.
        [{"no": 0.6, "yes": 0.4}, {"body": 1.0}],
        [{"Yes": 0.9}, {"terday": 1.0}],
    ],
)
def test_under_half_of_the_mass_is_no_judgement(written: list[dict[str, float]]) -> None:
    assert shares_of(*written) is None


def test_a_piece_of_a_label_counts_where_it_goes_on_to_it() -> None:
    whole = shares_of({"am": 0.7, "in": 0.3}, {"big": 1.0}, {"uous": 1.0}, labels=GRADES)
    cut = shares_of({"am": 0.7, "in": 0.3}, {"big": 1.0}, labels=GRADES)
    assert whole is not None
    assert whole == cut
    assert whole[0]["ambiguous"] == pytest.approx(0.7)


def test_a_word_of_one_letter_is_no_beginning_of_a_label() -> None:
    assert shares_of({"I": 0.9, "correct": 0.1}, {" think": 1.0}, labels=GRADES) is None
    beside = shares_of({"correct": 0.6, "I": 0.3, "A": 0.1}, labels=GRADES)
    assert beside is not None
    assert beside[1] == pytest.approx(0.6)
    spelt = shares_of({"I": 0.9, "correct": 0.1}, {"ncorrect": 1.0}, labels=GRADES)
    assert spelt is not None
    assert spelt[0]["incorrect"] > 0.85


def test_a_letter_is_a_label_where_it_is_one() -> None:
    found = shares_of({"A": 0.5, "b": 0.3, "C)": 0.2}, labels=LETTERS)
    assert found is not None
    assert found[0] == approx(A=0.5, B=0.3, C=0.2)


def test_the_chosen_token_counts_where_the_server_lists_it_apart() -> None:
    found = read_distribution([token("no", 0.6)], YES_NO)
    assert found is not None
    assert found.probabilities["no"] == pytest.approx(0.6)


SURFACES = st.sampled_from(["{}", " {}", '"{}"', "**{}", "{}.", "\u0120{}"])
WORDS = st.sampled_from([*YES_NO, *GRADES, "ye", "The", "I", "", "\n", "42"])
LISTED = st.dictionaries(
    st.builds(lambda form, word: form.replace("{}", word), SURFACES, WORDS), st.floats(0, 1), min_size=1, max_size=20
)


@given(LISTED, st.sampled_from([YES_NO, GRADES]), st.data())
def test_probabilities_sum_to_one_over_all_labels(
    listed: dict[str, float], labels: tuple[str, ...], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(labels))
    weights = listed | {chosen: 1.0 + math.fsum(listed.values())}
    total = math.fsum(weights.values())
    shares = {text: weight / total for text, weight in weights.items()}
    found = read_distribution([choice(chosen, shares)], labels)
    assert found is not None
    assert list(found.probabilities) == list(labels)
    assert abs(math.fsum(found.probabilities.values()) - 1.0) <= 1e-9
    assert all(0.0 < share <= 1.0 for share in found.probabilities.values())
    assert max(found.probabilities, key=found.probabilities.__getitem__) == chosen
    assert LEAST_MASS <= found.mass <= 1.0


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes", " YES.\n", '"yes"', '"Yes".', "**yes**", "`yes`.", "Label: yes", "Answer: yes.", "**Answer:** yes",
     "label : 'Yes'", "(yes)", "<think>no, or</think>\nyes", "no</think>yes"],
)  # fmt: skip
def test_a_label_alone_is_read(text: str) -> None:
    assert read_label(text, YES_NO) == "yes"


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "maybe", "yes or no", "yes, no", "yes\nbecause it says so", "I would say yes", "no yes", "yess",
     "Answer:", "Answer: it is yes", "Verdict maybe: yes", "<think>yes", "{\"label\": \"yes\"}"],
)  # fmt: skip
def test_nothing_is_picked_out_of_prose(text: str) -> None:
    assert read_label(text, YES_NO) is None


@pytest.mark.parametrize("text", ["I would say 4 of 5", "4/5", "4.5", "4 5", "-4", "The score is 4", "44", "4%"])
def test_no_number_is_read_out_of_prose(text: str) -> None:
    assert read_label(text, ("1", "2", "3", "4", "5")) is None


@given(st.text(), st.sampled_from([YES_NO, GRADES, LETTERS]))
def test_any_text_is_a_label_or_none(text: str, labels: tuple[str, ...]) -> None:
    assert read_label(text, labels) in (*labels, None)


@given(st.sampled_from(GRADES), st.text(" \n*_`\"'", max_size=5), st.text(" \n*_`\"'", max_size=5))
def test_a_label_is_read_in_any_wrapping(label: str, before: str, after: str) -> None:
    assert read_label(f"{before}{label.capitalize()}{after}", GRADES) == label


THOUGHT = CallAttempt(7, 9, reasoning_tokens=8)


@pytest.mark.parametrize(
    "reply",
    [
        saying("no"),
        saying("no", token("no", 0.9), attempt=THOUGHT),
        saying("<think>\n</think>no", token("<think>"), token("no", 0.9)),
        saying("no", token("no", 0.4)),
    ],
    ids=["no log-probabilities", "hidden reasoning", "written reasoning", "little mass"],
)
def test_without_valid_probabilities_the_text_is_read(reply: Reply) -> None:
    assert read_judgement(reply, YES_NO) == Judgement("no", "T0")


def test_equal_probabilities_give_the_label_named_first() -> None:
    judgement = read_judgement(saying("no", token("no", 0.5, yes=0.5)), YES_NO)
    assert judgement == Judgement("yes", "T1", {"yes": 0.5, "no": 0.5}, 1.0)
