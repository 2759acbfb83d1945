from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import pytest

from arena.config import LLMSettings
from arena.errors import BudgetError, ModelSetupError
from arena.judges.judge import check_can_judge, judge_of
from arena.judges.reading import JudgeCounts
from arena.judges.subject import NEEDS
from arena.leaderboard.judge_card import summarise_judges
from arena.llm.client import LLMClient
from arena.llm.limits import Budget
from arena.metrics.case import JUDGE_FAILED
from arena.protocols import ModelRequest, Reply
from arena.report.sections.judges import judge_notes
from arena.types import CallAttempt, JudgeMetric, PaidAttempt, Verdict
from tests.letter_embedder import LetterEmbedder
from tests.unit.judges.court import rule, turns_of, usual_case, verdict_on
from tests.unit.llm.asking import scripted, with_model
from tests.unit.llm.scripted_model import ScriptedModel, saying


def shas(identity: dict[str, object], embedder: LetterEmbedder | None = None) -> Mapping[JudgeMetric, str]:
    return judge_of(ScriptedModel(), identity, tuple(NEEDS), embedder or LetterEmbedder()).shas


def test_a_judge_is_known_by_all_that_can_change_a_verdict() -> None:
    other = LetterEmbedder()
    other.identity = {"model": "other letters"}
    plain, warmer, others = shas({"temperature": 0.0}), shas({"temperature": 0.5}), shas({"temperature": 0.0}, other)
    assert shas({"temperature": 0.0}) == plain
    assert len(set(plain.values())) == len(NEEDS)
    assert not set(plain.values()) & set(warmer.values())
    assert {metric for metric in NEEDS if plain[metric] != others[metric]} == {"answer_relevancy", "answer_correctness"}


def test_every_prompt_is_ragas_own_and_nothing_is_added() -> None:
    from ragas.metrics.collections.answer_accuracy.util import AnswerAccuracyInput, AnswerAccuracyJudge1Prompt

    model = ScriptedModel([saying('{"rating": 4}')])
    case = usual_case()
    anyio.run(judge_of(model, {}, ("answer_accuracy",)).verdict, case, "answer_accuracy")
    asked = AnswerAccuracyInput(
        query=case.question.text, user_answer="Mirelle Ostrand", reference_answer="Mirelle Ostrand"
    )
    assert turns_of(model.requests[0]) == [AnswerAccuracyJudge1Prompt().to_string(asked)]
    assert model.requests[0].json_schema is not None


def test_a_spent_budget_ends_the_judging(tmp_path: Path) -> None:
    budget = Budget(None, 1, before=PaidAttempt("before", "", "", "", 0, CallAttempt(1, 0)))
    with pytest.raises(BudgetError):
        verdict_on(tmp_path, "faithfulness", [], options={"budget": budget})
    with pytest.raises(BudgetError):
        verdict_on(tmp_path, "answer_accuracy", [], options={"budget": budget})


def test_the_fake_judges_by_shared_words(tmp_path: Path) -> None:
    assert verdict_on(tmp_path, "answer_accuracy", []).score.value == 1.0
    assert verdict_on(tmp_path, "answer_accuracy", [], usual_case("Ostrand")).score.value == 0.5
    assert verdict_on(tmp_path, "answer_accuracy", [], usual_case("the Sarn")).score.value == 0.0
    half = usual_case("Mirelle Ostrand governs Tammerhold. The Quennick School teaches dancing.")
    assert verdict_on(tmp_path, "faithfulness", [], half).score.value == 0.5
    for metric in NEEDS:
        verdict = verdict_on(tmp_path, metric, [], half, embedder=LetterEmbedder())
        assert verdict.score.value is not None, metric


def check(settings: LLMSettings) -> None:
    async def use(model: LLMClient) -> None:
        await check_can_judge(model, 30.0)

    with_model(settings, use)


def test_a_model_that_rates_can_judge(tmp_path: Path) -> None:
    check(scripted(tmp_path, {"rules": [rule("", {"rating": 2})]}))


@pytest.mark.parametrize("script", [[rule("", "good")], [rule("", {"rating": 5})], [{"error": 400}]])
def test_a_model_that_cannot_rate_is_refused_before_the_long_part(
    tmp_path: Path, script: list[dict[str, object]]
) -> None:
    with pytest.raises(
        ModelSetupError, match=r"cannot rate a made-up answer: .*; choose a model that keeps to a JSON form"
    ):
        check(scripted(tmp_path, {"rules": script}))


class Silent:
    """A server that takes the connection and says nothing."""

    name = "silent:"

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError("slept for ever")


def test_a_judge_that_says_nothing_is_named_before_its_time_outs_have_passed() -> None:
    with pytest.raises(ModelSetupError, match=r"judge 'silent:' said nothing within 0\.01 s .* judge\.health_seconds"):
        anyio.run(check_can_judge, Silent(), 0.01)


def _echo(request: ModelRequest) -> Reply:
    return saying("\n".join(turns_of(request)))


def _echo_fenced_end(request: ModelRequest) -> Reply:
    return saying("```\n" + "\n".join(turns_of(request))[-1500:] + "\n```")


def _example(request: ModelRequest) -> Reply:
    """The last worked example's output, written anew; a bare rating, of which that cannot be told, with its input."""
    text = "\n".join(turns_of(request)[:1])
    last = text[text.rindex("Output: {") + len("Output: ") : text.rindex("-----------------------------")]
    if "rating" in last:
        return saying(text[text.rindex("Input: {") : text.rindex("-----------------------------")])
    return saying(json.dumps(json.loads(last), separators=(",", ":")))


@pytest.mark.parametrize("metric", NEEDS)
@pytest.mark.parametrize("answer", [_echo, _echo_fenced_end, _example])
def test_what_a_judge_copies_out_of_its_prompt_is_no_verdict(
    answer: Callable[[ModelRequest], Reply], metric: JudgeMetric
) -> None:
    async def use() -> Verdict:
        judge = judge_of(ScriptedModel(answer=answer), {}, (metric,), LetterEmbedder())
        return await judge.verdict(usual_case(), metric)

    verdict = anyio.run(use)
    assert (verdict.score.value, verdict.score.reason) == (None, JUDGE_FAILED)
    tally = JudgeCounts()
    tally.add(verdict, em=1.0, human=None)
    (card,) = summarise_judges(tally)
    assert (card.judged, card.mean, card.echoed) == (0, None, 1)
    assert any("repeats its prompt instead of judging in 1 verdict" in note for note in judge_notes([card]))


def test_a_rating_behind_the_whole_prompt_or_of_its_own_is_one() -> None:
    for answer in (
        lambda request: saying("\n".join(turns_of(request)) + '{"rating": 2}'),
        lambda request: saying('{"rating": 2}'),
        lambda request: saying('Output: {\n    "rating": 2\n}'),
    ):
        model = ScriptedModel(answer=answer)

        async def judge(model: ScriptedModel = model) -> Verdict:
            return await judge_of(model, {}, ("answer_accuracy",)).verdict(usual_case(), "answer_accuracy")

        assert anyio.run(judge).score.value == 0.5
