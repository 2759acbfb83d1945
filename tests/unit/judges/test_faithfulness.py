from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Partial
from tests.unit.judges.court import NLI, STATEMENTS, judged, listed, rule, verdict_on

FIVE = ("Orlen is a river.", "It was bridged.", "That was in 1871.", "Tammerhold is near.", "A hill town is there.")


def test_all_statements_judged_give_their_share_as_ragas_has_it(tmp_path: Path) -> None:
    script = [listed(*FIVE), judged(*zip(FIVE, (1, 1, 0, 1, 0), strict=True))]
    verdict = verdict_on(tmp_path, "faithfulness", script)
    assert verdict.score.value == verdict.details["ragas"] == 0.6
    assert [part.value for part in verdict.parts] == [1, 1, 0, 1, 0]
    assert [part.name for part in verdict.parts] == list(FIVE)


def test_one_of_five_statements_judged_is_a_coverage_of_a_fifth_and_no_score(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "faithfulness", [listed(*FIVE), judged((FIVE[0], 1))])
    assert verdict.details["ragas"] == 1.0
    assert (verdict.score.value, verdict.score.reason) == (None, PARTLY_JUDGED)
    assert verdict.score.partial == Partial(known=0.2, low=0.2, high=1.0)
    assert [part.value for part in verdict.parts] == [1.0, None, None, None, None]


def test_verdicts_in_another_order_find_their_statements(tmp_path: Path) -> None:
    script = [listed(*FIVE[:3]), judged((FIVE[2], 0), (FIVE[0], 1), (FIVE[1].upper() + "!", 1))]
    verdict = verdict_on(tmp_path, "faithfulness", script)
    assert [part.value for part in verdict.parts] == [1.0, 1.0, 0.0]
    assert verdict.score.value == pytest.approx(2 / 3)


def test_invented_and_repeated_verdicts_do_not_count(tmp_path: Path) -> None:
    extra = [("The moon is green.", 1)] * 3 + [(FIVE[0], 0)] * 4
    verdict = verdict_on(tmp_path, "faithfulness", [listed(*FIVE[:2]), judged((FIVE[0], 0), (FIVE[1], 1), *extra)])
    assert verdict.score.value == 0.5


@pytest.mark.parametrize("wrong", [2, -1, 7])
def test_a_verdict_that_is_no_verdict_is_none(tmp_path: Path, wrong: int) -> None:
    verdict = verdict_on(tmp_path, "faithfulness", [listed(*FIVE[:2]), judged((FIVE[0], wrong), (FIVE[1], 1))])
    assert verdict.score.partial == Partial(known=0.5, low=0.5, high=1.0)


def test_a_judge_that_contradicts_itself_has_not_judged(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "faithfulness", [listed(FIVE[0]), judged((FIVE[0], 1), (FIVE[0], 0))])
    assert (verdict.score.value, verdict.score.reason) == (None, JUDGE_FAILED)
    assert verdict.parts[0].reason == "the judge contradicts itself"


def test_verdicts_cut_off_are_none_and_the_statements_are_kept(tmp_path: Path) -> None:
    whole = json.dumps({"statements": [{"statement": one, "reason": "so", "verdict": 1} for one in FIVE]})
    verdict = verdict_on(tmp_path, "faithfulness", [listed(*FIVE), rule(NLI, whole[:-40])])
    assert verdict.score.reason == JUDGE_FAILED
    assert [part.name for part in verdict.parts] == list(FIVE)
    assert all("no complete JSON object" in (part.reason or "") for part in verdict.parts)


def test_a_reply_that_ends_at_the_token_limit_is_no_verdict(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "faithfulness", [listed(*FIVE), judged((FIVE[0], 1))], max_tokens=5)
    assert verdict.score.reason == JUDGE_FAILED
    assert any(call.truncated for call in verdict.calls)


@pytest.mark.parametrize("script", [[listed()], [{"when": STATEMENTS, "error": 400}], [rule(STATEMENTS, "none")]])
def test_without_statements_nothing_is_judged(tmp_path: Path, script: list[dict[str, object]]) -> None:
    verdict = verdict_on(tmp_path, "faithfulness", script)
    assert (verdict.score.value, verdict.score.reason, verdict.score.partial) == (None, JUDGE_FAILED, None)
    assert verdict.parts[0].name == "statements"
    assert verdict.parts[0].reason
