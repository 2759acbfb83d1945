from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judges.ragas_metrics import average_precision, average_precision_bounds
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Partial
from tests.samples import answered
from tests.unit.judges.court import RECALL, case_of, rule, usual_case, verdict_on

WEIR, TOWN, MAYOR = "Orlen Weir is a river", "Tammerhold is a hill town governed", "Mirelle Ostrand trained"


def useful(text: str, verdict: int) -> dict[str, object]:
    """A rule for the passage that begins so, in the input and not in an example."""
    return rule(
        rf'"context": "[^"]*{text}[^"]*",\n    "answer": "Mirelle Ostrand"', {"reason": "so", "verdict": verdict}
    )


def test_precision_is_the_average_precision_of_the_useful_texts(tmp_path: Path) -> None:
    case = usual_case(used=("d1", "d2", "d3"))
    script = [useful(WEIR, 0), useful(TOWN, 1), useful(MAYOR, 1)]
    verdict = verdict_on(tmp_path, "context_precision", script, case)
    assert verdict.score.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert verdict.details["ragas"] == pytest.approx(verdict.score.value)
    assert [(part.name, part.value) for part in verdict.parts] == [("d1", 0), ("d2", 1), ("d3", 1)]


def test_a_failed_call_costs_one_text_and_not_those_after_it(tmp_path: Path) -> None:
    case = usual_case(used=("d1", "d2", "d3"))
    script = [{"when": useful(WEIR, 0)["when"], "error": 400}, useful(TOWN, 1), useful(MAYOR, 0)]
    verdict = verdict_on(tmp_path, "context_precision", script, case)
    assert [part.value for part in verdict.parts] == [None, 1.0, 0.0]
    assert verdict.score.reason == PARTLY_JUDGED
    assert verdict.score.partial == Partial(known=2 / 3, low=0.5, high=1.0)


def test_a_verdict_that_is_neither_leaves_the_text_unjudged(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "context_precision", [rule("", {"reason": "so", "verdict": 4})])
    assert (verdict.score.value, verdict.score.reason) == (None, JUDGE_FAILED)


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=8))
def test_bounds_hold_every_way_the_unknown_may_turn_out(places: list[float | None]) -> None:
    low, high = average_precision_bounds(places)
    for filling in product((0.0, 1.0), repeat=places.count(None)):
        rest = iter(filling)
        assert low <= average_precision([next(rest) if one is None else one for one in places]) <= high


def test_of_many_unknown_texts_nothing_is_said() -> None:
    assert average_precision_bounds([1.0, *[None] * 30]) == (0.0, 1.0)
    assert average_precision([0.0, 0.0]) == 0.0


def attributed(*statements: tuple[str, int]) -> list[dict[str, object]]:
    found = [{"statement": one, "reason": "so", "attributed": value} for one, value in statements]
    return [rule(RECALL, {"classifications": found})]


SUMMARY = case_of(answered("q4", "Tammerhold is governed by Ostrand.", ("d2", "d3")))
HILL, SCHOOL = "Tammerhold is a hill town governed by Mirelle Ostrand", "Mirelle Ostrand trained at the Quennick School"


def test_recall_is_the_share_of_the_reference_that_the_texts_carry(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "context_recall", attributed((HILL, 1), (SCHOOL, 0)), SUMMARY)
    assert verdict.score.value == verdict.details["ragas"] == 0.5


def test_recall_of_what_the_reference_does_not_say_does_not_count(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "context_recall", attributed((HILL, 1), ("The moon orbits Earth", 0)), SUMMARY)
    assert verdict.details["ragas"] == 0.5
    assert verdict.score.value == 1.0
    assert len(verdict.parts) == 1


def test_a_sentence_of_the_reference_without_a_verdict_is_not_judged(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, "context_recall", attributed(("The moon orbits Earth", 1)), SUMMARY)
    assert (verdict.score.value, verdict.score.reason) == (None, JUDGE_FAILED)
    assert verdict.details["ragas"] == 1.0


@pytest.mark.parametrize("script", [attributed(), [{"error": 400}]])
def test_recall_without_verdicts_is_a_failure(tmp_path: Path, script: list[dict[str, object]]) -> None:
    assert verdict_on(tmp_path, "context_recall", script, SUMMARY).score.reason == JUDGE_FAILED
