from __future__ import annotations

from arena.leaderboard.cells import break_down
from arena.leaderboard.metrics import QuestionResamples, ScoreColumns
from arena.types import Question, Score

QUESTIONS = (
    Question("q1", "?", "multi_hop", 3, "3hop1"),
    Question("q2", "?", "multi_hop", 10, "4hop1"),
    Question("q3", "?", "single_hop", 1),
    Question("q4", "?", "summary"),
)


def broken_down(*questions: Question, metric: str = "answer_f1") -> dict[str, dict[str, dict[str, float | None]]]:
    ids = tuple(one.question_id for one in questions)
    scores: list[Score | None] = [Score(metric, place / 10) for place in range(len(ids))]
    resamples = QuestionResamples(questions, seed=0).of(ids)
    found = break_down(ScoreColumns(ids, {metric: scores}), {one.question_id: one for one in questions}, resamples)
    return {
        name: {
            value: {metric: summary.mean for metric, summary in metrics.items()} for value, metrics in groups.items()
        }
        for name, groups in found.items()
    }


def test_every_attribute_has_its_values_in_reading_order() -> None:
    found = broken_down(*QUESTIONS)
    assert {name: list(groups) for name, groups in found.items()} == {
        "kind": ["multi_hop", "single_hop", "summary"],
        "hops": ["1", "3", "10"],
        "hop_shape": ["3hop1", "4hop1"],
    }
    assert found["kind"]["multi_hop"] == {"answer_f1": 0.05}
    assert found["hops"]["1"] == {"answer_f1": 0.2}


def test_what_does_not_vary_is_left_out() -> None:
    assert set(broken_down(*QUESTIONS[:2])) == {"hops", "hop_shape"}
    assert broken_down(QUESTIONS[0]) == {}


def test_only_headline_metrics_are_broken_down() -> None:
    assert broken_down(*QUESTIONS, metric="mrr") == {}
    assert set(broken_down(*QUESTIONS, metric="faithfulness")) == {"kind", "hops", "hop_shape"}


def test_groups_have_coverage_of_their_own() -> None:
    ids = tuple(f"q{place}" for place in range(1, 5))
    columns = ScoreColumns(ids, {"answer_f1": [Score("answer_f1", None, "failed"), *[Score("answer_f1", 1.0)] * 3]})
    resamples = QuestionResamples(QUESTIONS, seed=0).of(ids)
    kinds = break_down(columns, {one.question_id: one for one in QUESTIONS}, resamples)["kind"]
    assert (kinds["multi_hop"]["answer_f1"].mean, kinds["multi_hop"]["answer_f1"].coverage) == (None, 0.5)
    assert (kinds["summary"]["answer_f1"].mean, kinds["summary"]["answer_f1"].coverage) == (1.0, 1.0)
