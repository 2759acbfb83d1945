from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text import ABSTENTION
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.selection import Selection, segment_score, select, vote
from strategies.self_rag.state import Beam, Candidate, Draft, Segment
from tests.unit.strategies.self_rag.candidates import candidate, scored
from tests.unit.strategies.self_rag.shelf import PASSAGES

SOFT = SelfRagParams()
HARD = SelfRagParams(constraints="hard")
OPTIONS = SelfRagParams(mode="closed_set", options=("A", "B"))
START = (Beam(),)


def texts(selection: Selection) -> list[str]:
    return [survivor.beam.text for survivor in selection.survivors]


def test_an_irrelevant_passage_lowers_the_rank_and_is_not_removed() -> None:
    irrelevant = candidate("a", "d1", verdicts=("no", "fully", "5"))
    relevant = candidate("b", "d2")
    assert texts(select(START, [irrelevant, relevant], SOFT, 2)) == ["b", "a"]


def test_partial_support_stands_between_full_and_none() -> None:
    fresh = [candidate(label, verdicts=("yes", label, "3")) for label in ("none", "partially", "fully")]
    assert texts(select(START, fresh, SOFT, 3)) == ["fully", "partially", "none"]


def test_all_five_levels_of_utility_count() -> None:
    fresh = [candidate(level, verdicts=("yes", "fully", level)) for level in "13524"]
    assert texts(select(START, fresh, SOFT, 5)) == ["5", "4", "3", "2", "1"]


def test_hard_constraints_drop_what_has_no_support() -> None:
    fresh = [candidate("a", verdicts=("yes", "none", "5")), candidate("b", verdicts=("no", "partially", "1"))]
    selection = select(START, fresh, HARD, 2)
    assert texts(selection) == ["b"]
    assert (selection.rescued, selection.bent) == (False, True)
    assert texts(select(START, fresh, SOFT, 2)) == ["a", "b"]


def test_with_all_candidates_dropped_the_best_stays() -> None:
    fresh = [candidate("a", verdicts=("no", "none", "5")), candidate("b", verdicts=("yes", "none", "5"))]
    selection = select(START, fresh, HARD, 2)
    assert texts(selection) == ["b"]
    assert selection.rescued


def test_a_segment_without_a_passage_has_no_rank_by_right() -> None:
    plain = candidate("plain", None)
    assert segment_score(plain.draft, SOFT, with_sequence=False) == 0.5
    assert texts(select(START, [plain, candidate("from d2", "d2")], SOFT, 2)) == ["from d2", "plain"]


def test_the_sequence_term_counts_for_all_or_for_none() -> None:
    likely, unlikely = candidate("a", "d1", logprob=-2.0), candidate("b", "d2", logprob=-0.1)
    unknown = replace(unlikely, draft=replace(unlikely.draft, mean_logprob=None))
    assert texts(select(START, [likely, unlikely], SOFT, 2)) == ["b", "a"]
    without = select(START, [likely, unknown], SOFT, 2)
    assert texts(without) == ["a", "b"]
    assert [each.score for each in without.scored] == [2.5, 2.5]
    assert not without.with_sequence


def test_the_sequence_term_can_be_switched_off() -> None:
    fresh = [candidate("a", logprob=-2.0), candidate("b", logprob=-0.1)]
    assert not select(START, fresh, SelfRagParams(sequence_term=False), 2).with_sequence


def test_votes_are_summed_per_option() -> None:
    survivor = vote([scored("A", 0.9, "d1"), scored("B", 0.8, "d2"), scored("B", 0.7, "d3")])
    assert survivor.beam.text == "B"
    assert survivor.beam.score == pytest.approx(1.5)
    assert survivor.beam.segments[0].passages == (PASSAGES["d2"], PASSAGES["d3"])


def test_votes_leave_out_the_sequence_term() -> None:
    selection = select(START, [candidate("A", logprob=-0.1)], OPTIONS, 1)
    assert selection.survivors[0].beam.score == 2.5


def test_a_vote_without_a_readable_choice_abstains() -> None:
    survivor = vote([])
    assert (survivor.beam.text, survivor.beam.abstained) == (ABSTENTION, True)


def written(text: str, score: float, *, done: bool) -> Beam:
    return Beam((Segment(text, (PASSAGES["d1"],), score),), score, done)


def test_a_finished_text_is_not_lost_when_another_goes_on() -> None:
    finished, going_on = written("Done.", 9.0, done=True), written("More.", 2.0, done=False)
    more = candidate("And more.", "d2", beam=1, of=going_on, done=False)
    assert texts(select((finished, going_on), [more], SOFT, 2)) == ["Done.", "More. And more."]


def test_a_text_that_nothing_is_added_to_is_finished_once() -> None:
    beam = written("All of it.", 2.0, done=False)
    silent = [Candidate(candidate("", name, of=beam).branch, Draft("")) for name in ("d1", "d2")]
    selection = select((beam,), silent, SOFT, 2)
    assert texts(selection) == ["All of it."]
    assert selection.survivors[0].beam.done
    assert selection.winner is None


def test_scores_are_averaged_and_add_up_or_multiply_on_request() -> None:
    beam = written("One.", 1.5, done=False)
    more = [candidate("Two.", of=beam)]
    assert select((beam,), more, SOFT, 2).survivors[0].beam.score == (1.5 + 2.5) / 2
    assert select((beam,), more, SelfRagParams(accumulate="sum"), 2).survivors[0].beam.score == 1.5 + 2.5
    assert select((beam,), more, SelfRagParams(accumulate="product"), 2).survivors[0].beam.score == 1.5 * 2.5


def test_length_alone_wins_nothing() -> None:
    """A finished text at the highest score per segment stays ahead of a longer one with lower scores."""
    finished, going_on = written("Done.", 2.5, done=True), written("More.", 1.5, done=False)
    more = candidate("And more.", "d2", beam=1, of=going_on, done=True)
    assert texts(select((finished, going_on), [more], SelfRagParams(), 1)) == ["Done."]


def test_each_sibling_goes_on_from_its_own_text() -> None:
    """The released code lets later siblings see the first one's text."""
    one, other = written("One.", 2.0, done=False), written("Other.", 1.0, done=False)
    fresh = [
        candidate("a.", "d1", beam=0, of=one),
        candidate("b.", "d2", beam=0, of=one),
        candidate("c.", "d3", beam=1, of=other),
    ]
    assert texts(select((one, other), fresh, SOFT, 3)) == ["One. a.", "One. b.", "Other. c."]


labels = st.tuples(
    st.sampled_from(["yes", "no"]), st.sampled_from(["fully", "partially", "none"]), st.sampled_from("12345")
)


@given(st.lists(st.tuples(labels, st.floats(-5.0, 0.0)), min_size=1, max_size=6), st.integers(1, 4), st.data())
def test_the_ranking_is_by_score_and_the_order_of_candidates_breaks_ties_alone(
    drawn: list[tuple[tuple[str, str, str], float]], width: int, data: st.DataObject
) -> None:
    fresh = [candidate(f"t{n}", verdicts=verdicts, logprob=p) for n, (verdicts, p) in enumerate(drawn)]
    selection = select(START, fresh, SOFT, width)
    scores = [survivor.beam.score for survivor in selection.survivors]
    assert scores == sorted((each.score for each in selection.scored), reverse=True)[:width]
    shuffled = select(START, data.draw(st.permutations(fresh)), SOFT, width)
    assert [survivor.beam.score for survivor in shuffled.survivors] == scores


@given(labels, st.sampled_from([0, 1, 2]))
def test_a_better_verdict_never_lowers_the_score(verdicts: tuple[str, str, str], which: int) -> None:
    best = ("yes", "fully", "5")
    better = tuple(best[place] if place == which else label for place, label in enumerate(verdicts))
    before, after = (
        segment_score(candidate("x", verdicts=(each[0], each[1], each[2])).draft, SOFT, with_sequence=False)
        for each in (verdicts, better)
    )
    assert after >= before
    assert math.isfinite(after)
