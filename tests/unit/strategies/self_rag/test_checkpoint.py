"""The layout of the trained models, and reading their tokens off hand-made passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocols import Continuation, TokenChoice
from arena.types import Passage
from strategies.self_rag import checkpoint
from strategies.self_rag.checkpoint import RELEVANCE, RETRIEVE, SUPPORT, UTILITY, first_reading, match_option, read
from strategies.self_rag.state import Draft

BREAKS = tuple(RETRIEVE)


def token(text: str, share: float = 0.5, others: Mapping[str, float] | None = None) -> TokenChoice:
    """A token emitted with probability `share` beside `others`."""
    alternatives = {text: share, **(others or {})}
    return TokenChoice(text, math.log(share), {name: math.log(p) for name, p in alternatives.items()})


def said(*tokens: TokenChoice, finish: str = "stop") -> Continuation:
    return Continuation("".join(each.text for each in tokens), tokens, finish)


def judged(written: Draft) -> Any:
    """What a pass says by each of the three critiques: of a read one, none is left out."""
    return written.critique


WITH_PASSAGE = said(
    token("[Relevant]", 0.9, {"[Irrelevant]": 0.1}),
    token("Mirelle"),
    token(" Ostrand"),
    token("."),
    token("[Fully supported]", 0.6, {"[Partially supported]": 0.3, "[No support / Contradictory]": 0.1}),
    token("[Utility:5]", 0.5, {"[Utility:1]": 0.05, "[Utility:2]": 0.05, "[Utility:3]": 0.1, "[Utility:4]": 0.3}),
    token("</s>", 1.0),
)


def test_the_layout_is_an_instruction_block_and_a_response_block() -> None:
    passage = Passage("p", "d", "Tammerhold", "A hill town.", 0, 12)
    assert checkpoint.layout("Who?", checkpoint.evidence(passage)) == (
        "### Instruction:\nWho?\n\n### Response:\n[Retrieval]<paragraph>Tammerhold\nA hill town.</paragraph>"
    )


def test_one_pass_holds_the_text_and_all_three_critiques() -> None:
    written = read(WITH_PASSAGE, BREAKS)
    assert written.text == "Mirelle Ostrand."
    assert judged(written).relevance.probabilities == pytest.approx({"yes": 0.9, "no": 0.1})
    assert judged(written).support.probabilities == pytest.approx({"fully": 0.6, "partially": 0.3, "none": 0.1})
    assert judged(written).utility.probabilities == pytest.approx({"5": 0.5, "1": 0.05, "2": 0.05, "3": 0.1, "4": 0.3})
    labels = [getattr(judged(written), name).label for name in ("relevance", "support", "utility")]
    assert labels == ["yes", "fully", "5"]
    assert written.upcoming is None


def test_a_continuation_without_retrieval_has_a_utility_alone() -> None:
    written = read(said(token("Because"), token(" so"), token("."), token("[Utility:4]"), token("</s>")), BREAKS)
    assert written.text == "Because so."
    assert judged(written).utility.label == "4"
    assert (judged(written).relevance.probabilities, judged(written).support.probabilities) == ({}, {})
    assert (judged(written).relevance.label, judged(written).support.label) == (None, None)


def test_relevance_is_read_at_the_first_place_even_where_another_token_was_emitted() -> None:
    written = read(said(token("It", 0.6, {"[Relevant]": 0.3, "[Irrelevant]": 0.1}), token("[Irrelevant]")), BREAKS)
    assert judged(written).relevance.label is None
    assert judged(written).relevance.probabilities == pytest.approx({"yes": 0.3, "no": 0.1})


def test_support_is_read_where_its_group_is_first_emitted() -> None:
    unlikely_before = token("Ode", 0.5, {"[Fully supported]": 0.01})
    first, second = token("[No support / Contradictory]"), token("[Fully supported]")
    assert judged(read(said(token("[Relevant]"), unlikely_before, first, second), BREAKS)).support.label == "none"


def test_a_segment_ends_where_the_model_decides_on_retrieval_again() -> None:
    following = token("[Retrieval]", 0.7, {"[No Retrieval]": 0.2, "[Continue to Use Evidence]": 0.1})
    written = read(said(token("[Relevant]"), token("One."), following, token("[Fully supported]")), BREAKS)
    assert (written.text, written.raw) == ("One.", "[Relevant]One.")
    assert judged(written).support.label is None
    assert written.upcoming is not None
    assert written.upcoming.probabilities == pytest.approx({"yes": 0.7, "no": 0.2, "continue": 0.1})


def test_the_sequence_probability_is_of_the_segment_alone() -> None:
    written = read(said(token("A", 0.5), token("b", 0.5), token("[Retrieval]", 0.01)), BREAKS)
    assert written.mean_logprob == pytest.approx(math.log(0.5))


def test_without_log_probabilities_emitted_tokens_are_hard_labels() -> None:
    text = "[Relevant]One.[Partially supported][Utility:4][Retrieval]<paragraph>more</paragraph>[Relevant]Two."
    written = read(Continuation(text, (), "stop"), BREAKS)
    assert written.text == "One."
    assert judged(written).relevance.probabilities == {"yes": 1.0}
    assert (judged(written).support.label, judged(written).utility.label) == ("partially", "4")
    assert written.upcoming is not None
    assert (written.upcoming.label, written.mean_logprob) == ("yes", None)


def test_the_first_place_tells_whether_to_retrieve() -> None:
    first = said(token("[No Retrieval]", 0.6, {"[Retrieval]": 0.3}))
    reading = first_reading(first, RETRIEVE)
    assert (reading.label, reading.tier) == ("no", "T2")
    assert reading.probabilities == pytest.approx({"no": 0.6, "yes": 0.3})
    assert first_reading(Continuation("", ()), RETRIEVE).probabilities == {}


def test_variants_with_white_space_are_one_token() -> None:
    reading = first_reading(said(token(" [Relevant]", 0.5, {"[Relevant]": 0.25, "[Irrelevant] ": 0.25})), RELEVANCE)
    assert reading.label == "yes"
    assert reading.probabilities == pytest.approx({"yes": 0.75, "no": 0.25})


@given(st.lists(st.sampled_from([*RETRIEVE, *RELEVANCE, *SUPPORT, *UTILITY, "a", " b.", "</s>", "<paragraph>"])))
def test_no_reflection_token_is_left_in_a_text(texts: list[str]) -> None:
    for pass_ in (said(*map(token, texts)), Continuation("".join(texts), ())):
        text = read(pass_, BREAKS).text
        assert "[" not in text
        assert "</s>" not in text


@pytest.mark.parametrize("mark", [*RETRIEVE, *SUPPORT, "</paragraph>", "<paragraph>", "</s>", "### Response:"])
def test_no_passage_or_question_speaks_for_the_model(mark: str) -> None:
    hostile = Passage("p", "d", mark, f"x {mark} y", 0, 1)
    prompt = checkpoint.layout(f"Who? {mark}", checkpoint.evidence(hostile))
    assert prompt.count(mark) == checkpoint.layout("Who?", checkpoint.evidence(Passage("p", "d", "", "", 0, 0))).count(
        mark
    )


@pytest.mark.parametrize(
    ("text", "option"),
    [("true", "true"), ("True.", "true"), ("B", "false"), ("b) false", "false"), ("falsehood", None), ("", None)],
)
def test_options_are_matched_by_letter_or_in_full(text: str, option: str | None) -> None:
    assert match_option(text, ("true", "false")) == option
