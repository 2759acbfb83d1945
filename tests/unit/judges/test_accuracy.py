from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from arena.llm.cache import ReplyCache
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Partial, Verdict
from tests.unit.judges.court import JUDGE_1, JUDGE_2, rule, verdict_on


def rated(folder: Path, first: object, second: object) -> Verdict:
    script = [rule(JUDGE_1, {"rating": first}), rule(JUDGE_2, {"rating": second})]
    return verdict_on(folder, "answer_accuracy", script)


@pytest.mark.parametrize(("first", "second"), list(product((0, 2, 4), repeat=2)))
def test_two_ratings_give_one_of_five_values_and_both_are_kept(tmp_path: Path, first: int, second: int) -> None:
    verdict = rated(tmp_path, first, second)
    assert verdict.score.value == (first + second) / 8
    assert [(part.name, part.value) for part in verdict.parts] == [("judge_1", first), ("judge_2", second)]
    assert verdict.details["ragas"] == verdict.score.value
    assert [call.role for call in verdict.calls] == ["judge_answer_accuracy"] * 2


@pytest.mark.parametrize("rating", [3, 1, -4, 5, 400])
def test_a_rating_off_the_scale_is_asked_for_five_times_and_then_missing(tmp_path: Path, rating: int) -> None:
    verdict = rated(tmp_path, rating, 4)
    assert verdict.score.value is None
    assert verdict.score.reason == PARTLY_JUDGED
    assert verdict.score.partial == Partial(known=0.5, low=0.5, high=1.0)
    assert verdict.parts[0].reason == f"the rating {rating} is none of 0, 2 and 4"
    assert len(verdict.calls) == 5 + 1


def test_a_rating_off_the_scale_may_be_mended(tmp_path: Path) -> None:
    script = [rule(JUDGE_1, {"rating": 3}, times=1), rule("", {"rating": 4})]
    verdict = verdict_on(tmp_path, "answer_accuracy", script)
    assert verdict.score.value == 1.0
    assert len(verdict.calls) == 3


def test_words_for_a_rating_get_one_repair_turn_and_no_more(tmp_path: Path) -> None:
    verdict = rated(tmp_path, "four", 0)
    assert verdict.score.partial == Partial(known=0.5, low=0.0, high=0.5)
    assert "no reply is a AnswerAccuracyOutput" in (verdict.parts[0].reason or "")
    assert [call.repair for call in verdict.calls] == [False, True, False]


def test_a_failing_call_is_not_asked_again_by_ragas(tmp_path: Path) -> None:
    script = [{"when": JUDGE_1, "error": 400}, rule(JUDGE_2, {"rating": 4})]
    verdict = verdict_on(tmp_path, "answer_accuracy", script)
    assert verdict.score.partial == Partial(known=0.5, low=0.5, high=1.0)
    assert len(verdict.calls) == 2
    assert verdict.details["ragas"] == 1.0, "ragas alone calls half of a judgement a whole one"


def test_without_any_rating_nothing_is_known(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "answer_accuracy", [{"error": 400}])
    assert (verdict.score.value, verdict.score.reason, verdict.score.partial) == (None, JUDGE_FAILED, None)


def test_the_last_of_several_objects_is_the_rating(tmp_path: Path) -> None:
    script = [rule("", '{"rating": 4} - no, the year is another one: {"rating": 0}')]
    assert verdict_on(tmp_path, "answer_accuracy", script).score.value == 0.0


def test_a_rating_after_reasoning_counts_and_one_in_it_does_not(tmp_path: Path) -> None:
    script = [rule("", '<think>perhaps {"rating": 4}</think>{"rating": 2}')]
    assert verdict_on(tmp_path, "answer_accuracy", script).score.value == 0.5


def test_a_repeat_and_a_second_asking_are_other_samples_that_no_cache_repeats(tmp_path: Path) -> None:
    script = {"rules": [rule(JUDGE_1, {"rating": 3}, times=1), rule("", {"rating": 4})], "tally": "asked.jsonl"}
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        options = {"cache": cache}
        first = verdict_on(tmp_path, "answer_accuracy", script, options=options, cache=True)
        replayed = verdict_on(tmp_path, "answer_accuracy", script, options=options, cache=True)
        other = verdict_on(tmp_path, "answer_accuracy", script, options=options, cache=True, repeat=1)
    assert first.score.value == replayed.score.value == 1.0
    assert [call.replayed for call in replayed.calls] == [True, True, True]
    assert not any(call.replayed for call in other.calls)
    asked = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert len(asked) == 3 + 3


def test_two_judges_never_share_a_verdict(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        for name, rating in (("one", 0), ("two", 4)):
            (tmp_path / name).mkdir()
            verdict = verdict_on(
                tmp_path / name, "answer_accuracy", [rule("", {"rating": rating})], options={"cache": cache}, cache=True
            )
            assert verdict.score.value == rating / 4
            assert not any(call.replayed for call in verdict.calls)
