from __future__ import annotations

from typing import Any

import pytest

from arena.leaderboard.diagnosis import (
    MIN_QUESTIONS,
    SYMPTOMS,
    FailureSummary,
    Signs,
    Symptom,
    diagnose,
    meanings,
    summarise_failures,
    typical_tokens,
)
from arena.leaderboard.schema import MetricSummary
from arena.metrics.failures import FailureFinding
from arena.report.names import marks_of
from arena.report.sections.failures import diagnosis
from arena.types import GOLD_MODE
from tests.unit.leaderboard.boards import board, printed, row

HEALTHY = {
    "retrieval_recall": 0.9,
    "retrieval_precision": 0.4,
    "mrr": 0.8,
    "lexical_faithfulness": 0.9,
    "answer_f1": 0.7,
    "unsupported_claim": 0.1,
}


def known(mean: float | None, n: int = 60) -> MetricSummary:
    return MetricSummary(mean=mean, ci_low=None, ci_high=None, n=n, coverage=1.0)


def symptoms(**changes: float | None) -> dict[str, dict[str, float]]:
    """Name -> figures of a cell that is healthy but for `changes`; None takes a metric away."""
    figures = {name: value for name, value in (HEALTHY | changes).items() if value is not None}
    found = diagnose(Signs({name: known(value) for name, value in figures.items()}, "hybrid"))
    return {symptom.name: symptom.figures for symptom in found}


def refused(times: int, of: int) -> FailureSummary:
    return summarise_failures([FailureFinding("false_abstention")] * times + [FailureFinding("correct")] * (of - times))


def names(
    metrics: dict[str, MetricSummary], failures: FailureSummary | None = None, mode: str = "hybrid", **facts: Any
) -> list[str]:
    return [symptom.name for symptom in diagnose(Signs(metrics, mode, failures, **facts))]


def test_a_healthy_cell_has_no_symptoms() -> None:
    assert symptoms() == {}
    assert names({}) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"retrieval_recall": 0.4}, {"low_recall": {"retrieval_recall": 0.4}}),
        (
            {"retrieval_precision": 0.2},
            {"noisy_context": {"retrieval_recall": 0.9, "retrieval_precision": 0.2}},
        ),
        (
            {"lexical_faithfulness": 0.5},
            {
                "unfaithful_reader": {
                    "retrieval_recall": 0.9,
                    "retrieval_precision": 0.4,
                    "lexical_faithfulness": 0.5,
                }
            },
        ),
        (
            {"answer_f1": 0.2},
            {"beside_the_point": {"retrieval_recall": 0.9, "lexical_faithfulness": 0.9, "answer_f1": 0.2}},
        ),
        ({"mrr": 0.3}, {"evidence_ranked_late": {"retrieval_recall": 0.9, "mrr": 0.3}}),
        ({"unsupported_claim": 0.5}, {"answers_the_unanswerable": {"unsupported_claim": 0.5}}),
    ],
)
def test_each_row_of_the_table_shows_the_figures_that_triggered_it(
    changes: dict[str, float], expected: dict[str, dict[str, float]]
) -> None:
    assert symptoms(**changes) == expected


def test_low_recall_explains_the_rest_away() -> None:
    assert set(symptoms(retrieval_recall=0.4, retrieval_precision=0.1, answer_f1=0.1, mrr=0.2)) == {"low_recall"}


def test_a_judge_goes_before_its_proxy_and_the_figures_say_so() -> None:
    assert symptoms(faithfulness=0.9, lexical_faithfulness=0.5) == {}
    (figures,) = symptoms(faithfulness=0.5).values()
    assert figures == {"retrieval_recall": 0.9, "retrieval_precision": 0.4, "faithfulness": 0.5}
    (figures,) = symptoms(answer_accuracy=0.2).values()
    assert figures["answer_accuracy"] == 0.2
    assert "answer_f1" not in figures


def test_too_few_questions_or_a_withheld_mean_say_nothing() -> None:
    low = {"retrieval_recall": known(0.1, MIN_QUESTIONS - 1), "unsupported_claim": known(None)}
    assert names(low, refused(MIN_QUESTIONS - 1, MIN_QUESTIONS - 1)) == []
    assert names({"retrieval_recall": known(0.1, MIN_QUESTIONS)}) == ["low_recall"]


def test_what_a_control_is_handed_is_no_symptom() -> None:
    assert names({"retrieval_recall": known(0.5)}, mode=GOLD_MODE) == []


def test_refusing_with_evidence_in_sight_is_a_share_of_all_questions() -> None:
    fine = {"retrieval_recall": known(0.9)}
    (symptom,) = diagnose(Signs(fine, "dense", refused(6, 60)))
    assert (symptom.name, symptom.figures) == ("refuses_the_answerable", {"refused_with_evidence": 0.1})
    assert names(fine, refused(5, 60)) == []


def test_where_no_evidence_is_named_nobody_can_say_that_it_was_in_sight() -> None:
    assert names({}, refused(60, 60)) == []


def test_noise_is_dear_where_the_run_has_a_cheaper_cell() -> None:
    noisy = {"retrieval_precision": known(0.1)}
    (symptom,) = diagnose(Signs(noisy, "dense", tokens=3000.0, typical_tokens=1500.0))
    assert symptom.name == "paying_for_noise"
    assert symptom.figures == {"retrieval_precision": 0.1, "tokens_to_typical": 2.0}
    assert names(noisy, tokens=2900.0, typical_tokens=1500.0) == []
    assert names(noisy, tokens=None, typical_tokens=1500.0) == []
    assert names(noisy, tokens=2900.0) == []
    clean = {"retrieval_precision": known(0.5)}
    assert names(clean, tokens=3000.0, typical_tokens=1500.0) == []


def test_the_typical_cell_retrieves_and_asks_a_model() -> None:
    cells = [("hybrid", 900.0), ("hybrid", 4000.0), ("none", 50.0), (GOLD_MODE, 300.0), ("dense", 0.0), ("dense", None)]
    assert typical_tokens(cells) == 900.0
    assert typical_tokens(cells[1:]) is None


def test_every_symptom_says_what_it_means_and_where_to_act() -> None:
    assert list(meanings()) == list(SYMPTOMS)
    assert all(one["reading"].endswith(".") and one["where_to_act"].endswith(".") for one in meanings().values())


def test_symptoms_are_printed_with_their_figures() -> None:
    symptom = Symptom(name="low_recall", reading="[b]It.", where_to_act="There.", figures={"retrieval_recall": 0.4149})
    worse = symptom.model_copy(update={"figures": {"retrieval_recall": 0.2, "mrr": 0.1}})
    ailing = [
        row(name, "dense").model_copy(update={"diagnosis": [one]})
        for name, one in zip("ab", (symptom, worse), strict=True)
    ]
    shown = board(row("ircot"), *ailing)
    assert printed(diagnosis(shown, marks_of(shown)), 120).splitlines()[2:] == [
        "low_recall: [b]It. Act on: There.",
        "  a + dense: recall 0.41",
        "  b + dense: recall 0.20, MRR 0.10",
    ]


def test_a_board_without_symptoms_prints_nothing() -> None:
    assert printed(diagnosis(board(row()), marks_of(board(row())))) == ""
