from __future__ import annotations

from dataclasses import replace

import pytest

from arena.judges.subject import subject_of
from arena.metrics import Case
from arena.scoring import ScoreTable, by_metric, score_records
from arena.types import Dataset, JudgeMetric, RunRecord, Score, Verdict
from tests.samples import GOLD, QUESTIONS, answered, call, cell, failed, small_dataset

JUDGE = "openai:judge-1"
ACCURACY: JudgeMetric = "answer_accuracy"
RIGHT = answered("q1", "Mirelle Ostrand", ("d1", "d2"))


def sha_of(record: RunRecord) -> str:
    question = next(one for one in QUESTIONS if one.question_id == record.question_id)
    documents = {one.doc_id: one for one in small_dataset().documents}
    return subject_of(Case(record, question, GOLD[record.question_id], documents)).sha


def verdict(
    record: RunRecord, value: float | None, *, sha: str = "judge_1", repeat: int = 0, metric: JudgeMetric = ACCURACY
) -> Verdict:
    """What the judge with that sha said of `record`; a call of 50 and 7 tokens."""
    score = Score(metric, value, None if value is not None else "judge_failed")
    asked = (call(role="judge", model=JUDGE, input_tokens=50, output_tokens=7),)
    key = record.cell.key
    return Verdict(key, record.question_id, metric, JUDGE, sha, sha_of(record), repeat, score, calls=asked)


def judged(dataset: Dataset, records: list[RunRecord], *verdicts: Verdict, judge: str | None = None) -> ScoreTable:
    judges: dict[JudgeMetric, str] = {ACCURACY: judge} if judge else {}
    return score_records(records, dataset, verdicts=verdicts, judge_metrics=(ACCURACY,), judges=judges)


def accuracy(table: ScoreTable) -> list[Score]:
    return by_metric(table.cells[0])[ACCURACY]


def test_a_verdict_is_the_score_of_the_record_it_was_made_of(dataset: Dataset) -> None:
    assert accuracy(judged(dataset, [RIGHT], verdict(RIGHT, 0.75))) == [Score(ACCURACY, 0.75)]


def test_repeated_verdicts_are_averaged(dataset: Dataset) -> None:
    table = judged(dataset, [RIGHT], verdict(RIGHT, 0.5), verdict(RIGHT, 1.0, repeat=1))
    assert accuracy(table) == [Score(ACCURACY, 0.75)]


def test_a_verdict_on_another_answer_counts_for_nothing_but_its_bill(dataset: Dataset) -> None:
    table = judged(dataset, [RIGHT], verdict(answered("q1", "Nobody", ("d1", "d2")), 0.0))
    assert accuracy(table) == [Score(ACCURACY, None, "not_judged")]
    assert table.judges is not None
    assert list(table.judges) == []
    assert table.cells[0].judging.whole.calls == 1


def test_a_record_without_a_verdict_is_missing_and_one_that_needs_none_is_not(dataset: Dataset) -> None:
    records = [RIGHT, failed("q2"), answered("q3", "I do not know.", abstained=True), answered("q5", "Nobody")]
    reasons = [score.reason for score in accuracy(judged(dataset, records))]
    assert reasons == ["not_judged", "failed", None, "unanswerable"]


def test_who_abstains_more_gains_no_rank_over_f1s(dataset: Dataset) -> None:
    """One cell answers all three questions, one of them rightly; the other abstains where it would have been wrong."""
    bold = [RIGHT, answered("q2", "1999", ("d1",)), answered("q3", "Nowhere", ("d4",))]
    shy = [RIGHT, *(replace(one, answer=replace(one.answer, abstained=True)) for one in bold[1:] if one.answer)]
    means = {}
    for name, records in (("bold", bold), ("shy", shy)):
        table = judged(dataset, records, *(verdict(one, float(one is RIGHT)) for one in records))
        for metric in (ACCURACY, "answer_f1"):
            scores = by_metric(table.cells[0])[metric]
            assert None not in [score.value for score in scores]
            means[name, metric] = sum(score.value or 0.0 for score in scores) / len(scores)
    assert means["shy", ACCURACY] == means["bold", ACCURACY] == pytest.approx(1 / 3)
    assert means["shy", "answer_f1"] == means["bold", "answer_f1"] == pytest.approx(1 / 3)


def test_an_abstention_that_an_older_run_left_without_a_verdict_is_settled_without_a_judge(dataset: Dataset) -> None:
    shy = answered("q3", "I do not know.", ("d4",), abstained=True)
    older = replace(shy, answer=replace(shy.answer, shown=None)) if shy.answer else shy
    assert accuracy(judged(dataset, [RIGHT, older], verdict(RIGHT, 1.0))) == [
        Score(ACCURACY, 1.0),
        Score(ACCURACY, 0.0),
    ]


def test_a_verdict_without_a_value_is_missing_not_zero(dataset: Dataset) -> None:
    assert accuracy(judged(dataset, [RIGHT], verdict(RIGHT, None))) == [Score(ACCURACY, None, "judge_failed")]


def test_one_judge_is_never_given_the_verdict_of_another(dataset: Dataset) -> None:
    both = verdict(RIGHT, 1.0, sha="judge_a"), verdict(RIGHT, 0.0, sha="judge_b")
    assert accuracy(judged(dataset, [RIGHT], *both, judge="judge_a")) == [Score(ACCURACY, 1.0)]
    assert accuracy(judged(dataset, [RIGHT], *both, judge="judge_b")) == [Score(ACCURACY, 0.0)]
    assert accuracy(judged(dataset, [RIGHT], *both, judge="judge_c")) == [Score(ACCURACY, None, "not_judged")]


def test_where_nobody_says_which_judge_counts_it_is_the_one_that_judged_most(dataset: Dataset) -> None:
    other = answered("q2", "1871", ("d1",))
    verdicts = (
        verdict(RIGHT, 0.0, sha="judge_z"),
        verdict(RIGHT, 1.0, sha="judge_a"),
        verdict(other, 1.0, sha="judge_a"),
    )
    assert [score.value for score in accuracy(judged(dataset, [RIGHT, other], *verdicts))] == [1.0, 1.0]


def test_what_judging_took_is_apart_from_what_answering_did(dataset: Dataset) -> None:
    plain = score_records([RIGHT], dataset).cells[0]
    table = judged(dataset, [RIGHT], verdict(RIGHT, 1.0), verdict(RIGHT, 1.0, repeat=1))
    assert table.cells[0].usage == plain.usage
    spent = table.cells[0].judging.whole
    assert (spent.calls, spent.input_tokens.value, spent.output_tokens.value) == (2, 100, 14)


def test_a_judge_is_held_against_exact_match_and_people(dataset: Dataset) -> None:
    key = (RIGHT.cell.key, "q1")
    table = score_records(
        [RIGHT], dataset, verdicts=[verdict(RIGHT, 1.0)], labels={key: False}, judge_metrics=(ACCURACY,)
    )
    assert table.judges is not None
    (count,) = table.judges
    assert (count.records[key].em, count.records[key].human, count.records[key].value) == (1.0, False, 1.0)


@pytest.mark.parametrize(("value", "expected"), [(1.0, "correct"), (None, "judge_failed")])
def test_a_summary_is_called_right_by_its_judge(dataset: Dataset, value: float | None, expected: str) -> None:
    told = answered("q4", "Tammerhold is a hill town.", ("d2", "d3"))
    table = judged(dataset, [told], verdict(told, value))
    assert table.cells[0].failures["q4"].failure == expected
    assert score_records([told], dataset).cells[0].failures["q4"].failure == "unscored"


def test_verdicts_of_another_cell_are_not_mixed_up(dataset: Dataset) -> None:
    here, there = replace(RIGHT, cell=cell(mode="dense")), replace(RIGHT, cell=cell(mode="hybrid"))
    table = judged(dataset, [here, there], verdict(there, 0.25))
    assert [by_metric(one)[ACCURACY][0].value for one in table.cells] == [None, 0.25]
