"""The metrics that compare texts by their vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.judges.judge import judge_of
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Verdict
from tests.letter_embedder import LetterEmbedder
from tests.unit.judges.court import STATEMENTS, rule, usual_case, verdict_on
from tests.unit.llm.scripted_model import ScriptedModel

QUESTION = "Generate a question for the given answer"
CLASSES = "classify them in one of the following categories"
ASKED = usual_case().question.text


def question(text: str, noncommittal: int = 0, **fields: object) -> dict[str, object]:
    return rule(QUESTION, {"question": text, "noncommittal": noncommittal}, **fields)


def relevancy(folder: Path, *script: dict[str, object]) -> Verdict:
    return verdict_on(folder, "answer_relevancy", script, embedder=LetterEmbedder())


def test_relevancy_is_the_mean_closeness_of_three_questions(tmp_path: Path) -> None:
    verdict = relevancy(tmp_path, question(ASKED, times=2), question("zzz"))
    close = [part.value for part in verdict.parts]
    assert close[:2] == [pytest.approx(1.0)] * 2
    assert close[2] is not None
    assert close[2] < 0.1
    assert verdict.score.value == pytest.approx((2 + close[2]) / 3)
    assert verdict.details["ragas"] == pytest.approx(verdict.score.value)
    assert len({call.prompt_sha for call in verdict.calls}) == 1


def test_an_answer_called_noncommittal_three_times_is_worth_nothing(tmp_path: Path) -> None:
    assert relevancy(tmp_path, question(ASKED, 1)).score.value == 0.0
    assert relevancy(tmp_path, question(ASKED, 1, times=2), question(ASKED)).score.value == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [{"error": 400, "times": 1}, question("", times=1), question(ASKED, 5, times=1)])
def test_a_missing_question_leaves_a_third_open(tmp_path: Path, bad: dict[str, object]) -> None:
    verdict = relevancy(tmp_path, bad, question(ASKED))
    assert verdict.score.reason == PARTLY_JUDGED
    assert verdict.score.partial is not None
    assert verdict.score.partial.known == pytest.approx(2 / 3)
    assert verdict.score.partial.low == pytest.approx(2 / 3)
    assert verdict.score.partial.high == pytest.approx(1.0)


def test_no_question_at_all_is_a_failure_and_not_a_zero(tmp_path: Path) -> None:
    verdict = relevancy(tmp_path, {"error": 400})
    assert (verdict.score.value, verdict.score.reason) == (None, JUDGE_FAILED)
    assert verdict.details["ragas"] == 0.0


def correctness(folder: Path, tp: list[str], fp: list[str], fn: list[str], *first: dict[str, object]) -> Verdict:
    def items(statements: list[str]) -> list[dict[str, str]]:
        return [{"statement": one, "reason": "so"} for one in statements]

    script = [
        *first,
        rule(
            f'{STATEMENTS}[\\s\\S]*"answer": "Mirelle Ostrand, 1871"\n', {"statements": ["It is Ostrand.", "In 1871."]}
        ),
        rule(STATEMENTS, {"statements": ["Ostrand governs.", "She is a glassblower."]}),
        rule(CLASSES, {"TP": items(tp), "FP": items(fp), "FN": items(fn)}),
    ]
    case = usual_case("Mirelle Ostrand, 1871")
    return verdict_on(folder, "answer_correctness", script, case, embedder=LetterEmbedder())


def test_correctness_is_three_parts_f1_and_one_part_similarity(tmp_path: Path) -> None:
    verdict = correctness(tmp_path, ["It is Ostrand."], ["In 1871."], ["She is a glassblower."])
    close = verdict.details["similarity"]
    assert verdict.score.value == pytest.approx(0.75 * 0.5 + 0.25 * close)
    assert verdict.details["ragas"] == pytest.approx(verdict.score.value)
    assert [part.value for part in verdict.parts] == [1.0, 0.0]


def test_a_statement_in_no_class_is_not_judged_and_invented_ones_do_not_count(tmp_path: Path) -> None:
    verdict = correctness(tmp_path, ["It is Ostrand.", "So it goes."], ["The moon is green."], ["Nobody sent this."])
    close = verdict.details["similarity"]
    assert verdict.score.reason == PARTLY_JUDGED
    assert verdict.score.partial is not None
    assert verdict.score.partial.known == 0.5
    assert verdict.score.partial.low == pytest.approx(0.75 * 2 / 3 + 0.25 * close)
    assert verdict.score.partial.high == pytest.approx(0.75 + 0.25 * close)


def test_an_answer_without_statements_is_no_perfect_match(tmp_path: Path) -> None:
    verdict = correctness(tmp_path, [], [], [], rule(STATEMENTS, {"statements": []}))
    assert verdict.score.reason == JUDGE_FAILED
    assert verdict.details["ragas"] >= 0.75


def test_without_an_embedder_such_a_metric_is_refused() -> None:
    with pytest.raises(ConfigError, match="answer_relevancy compare texts by an embedding model"):
        judge_of(ScriptedModel(), {}, ("faithfulness", "answer_relevancy"))
