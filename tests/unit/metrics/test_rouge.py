from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.answer import rouge_l

TEXTS = st.lists(
    st.sampled_from(["the", "weir", "Weir.", "rose", "and", "1871", "\u00e9t\u00e9", "-"]), max_size=12
).map(" ".join)


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
        ("police killed the gunman", ["police kill the gunman"], 0.75),
        ("the gunman police killed", ["police killed the gunman"], 0.5),
        ("a b c d", ["a c", "x"], 2 * 2 / 6),
        ("A-B", ["a b"], 1.0),
        ("", ["a"], 0.0),
        ("a", ["..."], 0.0),
        ("", [""], 0.0),
    ],
)
def test_by_hand(prediction: str, references: list[str], expected: float) -> None:
    assert rouge_l(prediction, references) == pytest.approx(expected)


def test_without_references_nothing_is_defined() -> None:
    assert rouge_l("a", []) is None


@pytest.mark.filterwarnings("default")  # what nltk warns of is none of ours
def test_every_score_is_that_of_the_library() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rougeL"], use_stemmer=False)

    @given(TEXTS, TEXTS)
    def agree(prediction: str, reference: str) -> None:
        expected = theirs.score(reference, prediction)["rougeL"].fmeasure
        assert rouge_l(prediction, [reference]) == pytest.approx(expected, abs=1e-12)

    agree()


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_the_best_reference_counts(prediction: str, references: list[str]) -> None:
    singles = [rouge_l(prediction, [reference]) or 0.0 for reference in references]
    assert rouge_l(prediction, references) == max(singles)


@pytest.mark.parametrize(
    "text", ["Москва — столица России.", "北京是首都。", "Αθήνα", "القاهرة عاصمة مصر", "हिन्दी भाषा"]
)
def test_a_text_in_any_script_is_all_of_itself(text: str) -> None:
    assert rouge_l(text, [text]) == 1.0
    assert rouge_l(text, ["Paris"]) == 0.0


def test_tokens_of_other_scripts_are_in_order() -> None:
    assert rouge_l("北京是首都", ["首都是北京"]) == pytest.approx(2 / 5)
