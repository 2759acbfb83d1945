from __future__ import annotations

from typing import Any

import pytest

from arena.errors import ModelCallError, StrategyError
from arena.types import Passage
from tests.unit.strategies.corrective.shelf import (
    QUESTION,
    Trial,
    WordEvaluator,
    attempt,
    by_word,
    keywords,
    passage,
    shown_text,
)

TEN = [passage(f"d{n}", f"Passage {n}. It is short.") for n in range(10)]
LONG = passage("long", "Gold one. Mud two. Mud three. Gold four. Mud five. Mud six.", "Long")
WEB = [passage(f"w{n}", f"Web {n} is gold.") for n in range(7)]
BAD = by_word({"Web": "relevant"}, "irrelevant")
FORTY = " ".join(f"Gold {n}." for n in range(40))


def paper(scores: dict[str, float], passages: list[Passage] = TEN, **params: Any) -> Trial:
    return attempt(passages, trained=WordEvaluator(scores), evaluator="t5", checkpoint="folder", **params)


@pytest.mark.parametrize(
    ("scores", "action"),
    [
        ({"Passage 3": 0.6}, "correct"),
        ({"Passage 3": 0.59}, "correct"),
        ({"Passage 3": -0.5}, "ambiguous"),
        ({}, "incorrect"),
    ],
)
def test_the_papers_table_decides_the_action(scores: dict[str, float], action: str) -> None:
    trial = paper(scores)
    (decision,) = trial.decisions("decide_action")
    threshold = 0.59 if action == "correct" else -0.99
    assert (decision.choice, decision.threshold, decision.origin, decision.tier) == (action, threshold, "paper", "T2")
    assert decision.score == max([-1.0, *scores.values()])


def test_incorrect_shows_no_retrieved_text_and_says_that_nothing_is_known() -> None:
    trial = paper({})
    assert "Passage" not in trial.prompt
    assert "<passages>" not in trial.prompt
    assert trial.choice("recompose") == "without_knowledge"
    assert trial.choice("search") == "off"
    assert trial.decisions("decide_action")[0].changed == ("evidence",)
    answer = trial.attempt.answer
    assert (len(answer.retrieved_ids), answer.used_ids, answer.cited_ids) == (10, (), ())
    assert trial.writer.roles() == ["generate"]


def test_correct_searches_nothing_though_nine_passages_are_bad() -> None:
    """Popular tutorials search the web as soon as any passage is bad, and keep the other ones unrefined."""
    trial = attempt(TEN, by_word({"Passage 3": "relevant"}, "irrelevant"), found=WEB, external="second_index")
    assert trial.external.asked == []
    assert trial.attempt.answer.used_ids == ("d3",)
    assert "rewrite" not in trial.writer.roles()


def test_incorrect_uses_the_external_source_alone() -> None:
    trial = attempt(TEN, BAD, found=WEB, external="second_index")
    assert trial.attempt.answer.used_ids == ("w0", "w1", "w2", "w3", "w4")
    assert trial.attempt.answer.retrieved_ids == (*(f"d{n}" for n in range(10)), *(f"w{n}" for n in range(5)))
    assert "Passage" not in trial.prompt
    assert (trial.choice("search"), trial.decisions("search")[0].changed) == ("found", ("evidence",))


def test_ambiguous_gives_both_internal_first() -> None:
    judge = by_word({"Passage 4": "unsure", "Web": "relevant"}, "irrelevant")
    trial = attempt(TEN, judge, found=WEB[:2], external="second_index")
    (action,) = trial.decisions("decide_action")
    assert (action.choice, action.changed) == ("ambiguous", ("query",))
    assert trial.attempt.answer.used_ids == ("d4", "w0", "w1")
    assert trial.prompt.index("[1] T: Passage 4") < trial.prompt.index("[2] T: Web 0")
    assert trial.attempt.answer.cited_ids == ("d4",)


def test_the_external_search_gets_keywords_and_the_reader_the_question() -> None:
    """Tutorials let the rewritten query take the question's place."""
    trial = attempt(TEN, BAD, found=WEB, external="live", write=keywords("Tammerhold, governor"))
    assert [request.query for request in trial.index.asked] == [QUESTION]
    assert [(request.query, request.k) for request in trial.external.asked] == [("Tammerhold, governor", 5)]
    assert trial.prompt.count(QUESTION) == 1
    assert "Tammerhold, governor" not in trial.prompt
    assert (trial.choice("rewrite"), trial.decisions("rewrite")[0].changed) == ("keywords", ("query",))


@pytest.mark.parametrize("said", ["", "I don't know", ",,"])
def test_without_a_keyword_the_question_itself_is_searched_and_recorded(said: str) -> None:
    trial = attempt(TEN, BAD, found=WEB, external="live", write=keywords(said))
    assert trial.external.asked[0].query == QUESTION
    assert (trial.choice("rewrite"), trial.decisions("rewrite")[0].changed) == ("question", ())


@pytest.mark.parametrize("found", [[], [passage("w", "Of no use.")]], ids=["nothing", "nothing good"])
def test_a_search_in_vain_is_answered_without_knowledge(found: list[Passage]) -> None:
    trial = attempt(TEN, by_word({}, "irrelevant"), found=found, external="live")
    assert trial.choice("recompose") == "without_knowledge"
    assert "<passages>" not in trial.prompt


def test_strips_are_filtered_in_order_at_most_five_and_cited_by_document() -> None:
    judge = by_word({"Mud": "irrelevant", "Gold": "relevant"}, "irrelevant")
    trial = attempt([LONG, passage("many", FORTY, "Many")], judge, strip_sentences=1)
    assert "[1] Long: Gold one. Gold four.\n[2] Many: Gold 0. Gold 1. Gold 2.\n" in trial.prompt
    (decision,) = trial.decisions("refine")
    assert (decision.choice, decision.subject, decision.changed) == ("filtered", "5 of 46 strips", ("evidence",))
    assert trial.attempt.answer.used_ids == ("long", "many")


def test_external_knowledge_is_refined_too() -> None:
    judge = by_word({"Mud": "irrelevant", "Gold": "relevant"}, "irrelevant")
    trial = attempt(TEN, judge, found=[LONG], external="live", strip_sentences=1)
    assert "[1] Long: Gold one. Gold four.\n" in trial.prompt
    assert trial.choice("select_external") == "filtered"


def test_correct_with_no_strip_left_keeps_the_best_one() -> None:
    found = paper({"one. Mud": 0.9, "Mud three": -0.7, "Gold one": -0.8}, [LONG], strip_sentences=2)
    assert found.choice("refine") == "filtered"
    left = paper({"five. Mud six": 0.9}, [LONG], strip_sentences=2, strip_threshold=0.95)
    assert left.choice("refine") == "best_strip"
    assert "[1] Long: Mud five. Mud six.\n" in left.prompt


def test_a_passage_that_is_one_strip_is_not_judged_again() -> None:
    trial = attempt([TEN[0], LONG], lambda role, prompt, labels: labels[0])
    assert trial.writer.roles() == ["evaluate"] * 2 + ["refine"] * 2 + ["generate"]
    assert "Passage 0" not in "".join(map(shown_text, trial.writer.prompts("refine")))


def test_without_refinement_the_passages_stay_as_they_are() -> None:
    trial = attempt([LONG], lambda role, prompt, labels: labels[0], decompose="none")
    assert LONG.text in trial.prompt
    assert trial.choice("refine") == "unrefined"
    assert trial.writer.roles() == ["evaluate", "generate"]


def test_every_passage_has_its_verdict_in_the_trace() -> None:
    trial = attempt(TEN[:3], by_word({"Passage 1": "relevant", "Passage 2": "unsure"}, "irrelevant"))
    verdicts = [(d.subject, d.choice, d.score, d.threshold, d.origin, d.tier) for d in trial.decisions("evaluate")]
    assert verdicts == [
        ("d0", "incorrect", -1.0, -0.5, "default", "T0"),
        ("d1", "correct", 1.0, 0.5, "default", "T0"),
        ("d2", "ambiguous", 0.0, -0.5, "default", "T0"),
    ]


def test_a_judgement_that_cannot_be_read_is_recorded_as_such_and_counts_as_unsure() -> None:
    trial = attempt(TEN[:2], by_word({"Passage 0": None}, "irrelevant"))
    assert [(one.choice, one.score) for one in trial.decisions("evaluate")] == [
        ("unreadable", 0.0),
        ("incorrect", -1.0),
    ]
    assert trial.choice("decide_action") == "ambiguous"


def test_probabilities_are_scores_and_fall_to_the_label() -> None:
    judge = by_word({"Passage 0": {"yes": 0.4, "no": 0.1}, "Passage 1": "yes", "Passage 2": None}, "no")
    trial = attempt(TEN[:4], judge, evaluator="probabilities")
    found = [(d.score, d.tier) for d in trial.decisions("evaluate")]
    assert found == [(pytest.approx(0.6), "T1"), (1.0, "T0"), (0.0, "T0"), (-1.0, "T0")]
    assert trial.decisions("decide_action")[0].tier == "T0"


def test_a_judgement_ends_with_the_labels_it_may_be() -> None:
    trial = attempt(TEN[:1], evaluator="probabilities")
    assert trial.writer.prompts("evaluate")[0].splitlines()[-1] == "Reply with one of: yes, no"


def test_an_empty_passage_is_worth_nothing_and_nobody_is_asked() -> None:
    trial = attempt([passage("blank", " \n")])
    assert (trial.decisions("evaluate")[0].score, trial.writer.roles()) == (-1.0, ["generate"])


def test_nothing_retrieved_is_incorrect() -> None:
    trial = attempt([], found=WEB, external="second_index")
    assert (trial.choice("decide_action"), trial.decisions("decide_action")[0].changed) == ("incorrect", ("query",))
    assert trial.attempt.answer.used_ids[0] == "w0"


def test_a_document_of_both_sources_is_shown_once() -> None:
    trial = attempt([TEN[0]], lambda role, prompt, labels: "unsure", found=[TEN[0], WEB[0]], external="second_index")
    assert trial.attempt.answer.used_ids == ("d0", "w0")
    assert trial.prompt.count("Passage 0") == 1


def test_the_trained_evaluator_reads_titles_as_it_was_trained_to() -> None:
    for params, text in (
        ({"evaluator": "t5", "checkpoint": "f"}, "Web 0 is gold."),
        ({"evaluator": "t5", "checkpoint": "f", "preset": "bio"}, "T // Web 0 is gold."),
        ({"evaluator": "cross_encoder", "upper": 1, "lower": 0, "strip_threshold": 0}, "T\nWeb 0 is gold."),
    ):
        evaluator = WordEvaluator({"Web": 5.0})
        attempt(WEB[:1], trained=evaluator, **params)
        assert evaluator.asked == [(QUESTION, (text,))]


@pytest.mark.parametrize("scores", [[], [float("nan")]])
def test_a_broken_evaluator_is_named(scores: list[float]) -> None:
    class Broken(WordEvaluator):
        def score(self, question: str, texts: Any) -> list[float]:
            return scores

    with pytest.raises(StrategyError, match="'words'"):
        attempt(WEB[:1], trained=Broken({}), evaluator="t5", checkpoint="f")


def test_a_failed_judgement_is_raised_bare() -> None:
    with pytest.raises(ModelCallError, match="evaluate: HTTP 500"):
        attempt(TEN, by_word({"Passage 7": "broken"}, "relevant"))
