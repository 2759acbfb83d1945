from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.types import Passage
from strategies.corrective.refining import decompose, recompose, strongest
from tests.unit.strategies.corrective.shelf import passage

ONE = "The weir was built in 1871."
LONG = "Ann Low built it. It cost 40 pounds! Was it wide? It was. Then it fell."
texts = st.lists(st.sampled_from(["It rained. ", "Why? ", "St. Ann ", "x ", "\n", "One. Two. Three. "]), max_size=12)
passages = st.lists(texts.map("".join), max_size=4).map(
    lambda found: [passage(f"p{i}", t) for i, t in enumerate(found)]
)


def strips_of(text: str, sentences: int = 3) -> list[str]:
    return [strip.text for strip in decompose([passage("p", text)], "sentences", sentences)]


@pytest.mark.parametrize("text", [ONE, f"{ONE} It stands.", "no stop at all"])
def test_a_passage_of_one_or_two_sentences_is_one_strip(text: str) -> None:
    assert strips_of(text, sentences=1) == [text]


def test_a_longer_one_is_cut_into_strips_of_a_few() -> None:
    assert strips_of(LONG, 2) == ["Ann Low built it. It cost 40 pounds!", "Was it wide? It was.", "Then it fell."]


@pytest.mark.parametrize(
    "text",
    ["Dr. Low met St. Ann and J. R. Vale of the U.S. Navy. He left.", "It ran 3.5 miles. Then (approx. Two) more."],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert strips_of(text, sentences=1) == [text]


def test_a_stop_inside_quotes_ends_one() -> None:
    assert strips_of('She said "No." He left. They met.', 1) == ['She said "No."', "He left.", "They met."]


def test_whole_passages_and_white_space() -> None:
    given_passages = [passage("a", f"  {LONG} "), passage("b", " \n")]
    for how in ("passages", "none"):
        assert [strip.text for strip in decompose(given_passages, how, 1)] == [LONG]
    assert decompose([passage("b", " \n")], "sentences", 3) == ()


@given(passages, st.integers(1, 4))
def test_strips_are_substrings_in_order_that_lose_nothing_but_space(found: list[Passage], sentences: int) -> None:
    strips = decompose(found, "sentences", sentences)
    for strip in strips:
        assert strip.text == strip.text.strip() != ""
        assert strip.as_passage.text == strip.passage.text[strip.start : strip.end]
    order = [(found.index(strip.passage), strip.start) for strip in strips]
    assert order == sorted(order)
    assert "".join(" ".join(s.text for s in strips).split()) == "".join(" ".join(p.text for p in found).split())


@given(passages, st.data(), st.integers(1, 5))
def test_the_best_above_the_threshold_are_kept_in_original_order(
    found: list[Passage], data: st.DataObject, most: int
) -> None:
    strips = decompose(found, "sentences", 1)
    grades = st.sampled_from([-1.0, -0.5, 0.0, 0.3, 1.0])
    scores = data.draw(st.lists(grades, min_size=len(strips), max_size=len(strips)))
    kept = strongest(strips, scores, -0.5, most)
    places = [strips.index(strip) for strip in kept]
    assert places == sorted(places)
    assert len(kept) == min(most, sum(score > -0.5 for score in scores))
    left_out = [score for place, score in enumerate(scores) if place not in places and score > -0.5]
    assert all(scores[place] >= max(left_out, default=-1.0) for place in places)


def test_a_score_at_the_threshold_is_dropped_and_the_earlier_of_equals_kept() -> None:
    strips = decompose([passage("p", LONG)], "sentences", 1)
    assert strongest(strips, [-0.5, 0.1, 0.1, 0.2, 0.1], -0.5, 2) == (strips[1], strips[3])
    assert strongest(strips[:1], [-0.5], -0.5, 5) == ()


def test_the_strips_of_one_document_become_one_passage() -> None:
    late, early = (Passage(f"d#{n}", "d", "T", text, at, at + 4) for n, text, at in ((1, "Late", 40), (0, "Soon", 0)))
    other = passage("e", "Else")
    joined, second = recompose(decompose([late, other, early], "none", 1))
    assert (joined.doc_id, joined.text, joined.start_char, joined.end_char) == ("d", "Soon Late", 0, 44)
    assert second == other


@given(passages)
def test_recomposing_invents_nothing_and_shows_no_strip_twice(found: list[Passage]) -> None:
    strips = decompose(found, "sentences", 2)
    shown = recompose((*strips, *strips))
    assert shown == recompose(strips)
    assert [one.text for one in shown] == [
        " ".join(strip.text for strip in strips if strip.passage.doc_id == one.doc_id) for one in shown
    ]
    assert len({one.doc_id for one in shown}) == len(shown)
