from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from arena.judges.reading import JudgeCounts
from arena.leaderboard.guards import ENOUGH_QUESTIONS, check_cells
from arena.scoring import CellScores, ScoreTable, usage_of
from arena.types import GOLD_MODE, IMPORTED_MODE, NO_RETRIEVAL_MODE, OWN_MODE, Cell, Decision, RunRecord, Score, Verdict
from tests.samples import answered, failed

QUESTIONS = [f"q{number}" for number in range(ENOUGH_QUESTIONS)]


def scored(
    records: Sequence[RunRecord], values: Mapping[str, Sequence[float | None]] | None = None, *, of: Cell | None = None
) -> CellScores:
    """The cell of `records` with these scores: metric -> one value a record."""
    cell = of or records[0].cell
    found = CellScores(cell)
    for number, record in enumerate(records):
        found.usage[record.question_id] = usage_of(record)
        found.decisions.add(record)
        found.scores[record.question_id] = tuple(
            Score(metric, column[number], None if column[number] is not None else "not judged")
            for metric, column in (values or {}).items()
        )
    return found


def guards(*cells: CellScores) -> list[list[tuple[str, str | None]]]:
    """Guard and metric of every finding, cell by cell."""
    return [[(one.guard, one.metric) for one in found] for found in check_cells(ScoreTable(cells)).values()]


def sound(number: int = 3) -> list[RunRecord]:
    return [answered(name, "x", ("d1",)) for name in QUESTIONS[:number]]


def without_calls(records: Sequence[RunRecord]) -> list[RunRecord]:
    return [replace(record, calls=()) for record in records]


def without_retrievals(records: Sequence[RunRecord], *decisions: Decision) -> list[RunRecord]:
    return [replace(record, retrievals=(), decisions=decisions) for record in records]


def test_an_index_that_brings_nothing_makes_the_cell_invalid() -> None:
    empty = [answered(name, "x", ()) for name in QUESTIONS[:3]]
    assert guards(scored(empty)) == [[("no_hits", None)]]
    assert guards(scored([*empty, *sound(1)])) == [[]]


def test_what_a_reranker_dropped_was_found() -> None:
    dropped = [
        replace(one, retrievals=tuple(replace(found, hits=(), dropped=found.hits) for found in one.retrievals))
        for one in sound()
    ]
    assert guards(scored(dropped)) == [[]]


def test_a_sound_cell_has_an_empty_list() -> None:
    assert guards(scored(sound())) == [[]]


def test_a_model_that_was_never_asked_makes_the_cell_invalid() -> None:
    assert guards(scored(without_calls(sound()))) == [[("no_calls", None)]]
    one_call = [*without_calls(sound(2)), answered("q2", "x", ("d1",))]
    assert guards(scored(one_call)) == [[]]


def test_a_cell_without_a_model_needs_no_call() -> None:
    plain = Cell("retrieval_only", "dense", None)
    assert guards(scored([replace(one, cell=plain) for one in without_calls(sound())])) == [[]]


@pytest.mark.parametrize("mode", [OWN_MODE, IMPORTED_MODE])
def test_a_foreign_system_may_say_that_it_asked_and_retrieved_nothing(mode: str) -> None:
    theirs = Cell("theirs", mode, "unstated")
    empty = [replace(answered(name, "x", ()), cell=theirs, calls=()) for name in QUESTIONS[:3]]
    assert guards(scored(empty)) == [[]]
    assert guards(scored(without_retrievals(empty))) == [[]]


def test_a_cell_of_failures_alone_is_no_matter_of_guards() -> None:
    """They are counted as what they are."""
    assert guards(scored(without_calls([failed(name) for name in QUESTIONS[:3]]))) == [[]]


def test_a_strategy_that_never_asked_its_index_makes_the_cell_invalid() -> None:
    assert guards(scored(without_retrievals(sound()))) == [[("no_retrievals", None)]]


def test_a_controller_may_decide_against_retrieval_on_every_question() -> None:
    skipped = Decision("classify", "A")
    assert guards(scored(without_retrievals(sound(), skipped))) == [[]]
    once = [*without_retrievals(sound(1), skipped), *without_retrievals(sound(3)[1:])]
    assert guards(scored(once)) == [[("no_retrievals", None)]]


@pytest.mark.parametrize("mode", [GOLD_MODE, NO_RETRIEVAL_MODE])
def test_a_control_has_no_index_to_ask(mode: str) -> None:
    control = Cell("control", mode, "fake:")
    assert guards(scored([replace(one, cell=control) for one in without_retrievals(sound())])) == [[]]


@pytest.mark.parametrize(
    ("metric", "value", "number", "invalid"),
    [
        ("answer_f1", 0.37, ENOUGH_QUESTIONS, True),
        ("answer_f1", 0.37, ENOUGH_QUESTIONS - 1, False),
        ("answer_f1", 0.0, ENOUGH_QUESTIONS, False),
        ("answer_f1", 1.0, ENOUGH_QUESTIONS, False),
        ("precision_at_5", 0.2, ENOUGH_QUESTIONS, False),
        ("answer_em", 0.0, ENOUGH_QUESTIONS, False),
    ],
)
def test_one_value_throughout_is_suspect_where_it_can_hardly_be_true(
    metric: str, value: float, number: int, invalid: bool
) -> None:
    found = guards(scored(sound(number), {metric: [value] * number}))
    assert found == [[("constant_metric", metric)] if invalid else []]


def judged(*cells: Sequence[tuple[float | None, float]]) -> list[list[str]]:
    """Guards of cells whose answers got these judge's scores and exact matches."""
    tally, table = JudgeCounts(), []
    for number, answers in enumerate(cells):
        cell = Cell(f"s{number}", "dense", "fake:")
        records = [replace(answered(f"q{place}", "x", ("d1",)), cell=cell) for place in range(len(answers))]
        table.append(scored(records))
        for record, (value, em) in zip(records, answers, strict=True):
            score = Score("answer_accuracy", value)
            said = Verdict(cell.key, record.question_id, "answer_accuracy", "fake:", "j", "s", 0, score)
            tally.add(said, em=em, human=None)
    found = check_cells(ScoreTable(tuple(table), tally)).values()
    return [[f"{one.guard} {one.metric}" for one in findings] for findings in found]


STUCK = ["constant_judge answer_accuracy"]
HALF = ENOUGH_QUESTIONS // 2


def test_a_judge_that_says_the_same_of_every_answer_of_every_cell_is_none() -> None:
    assert judged([(1.0, 0.0)] * HALF, [(1.0, 1.0)] * HALF) == [STUCK, STUCK]
    assert judged([(0.5, 0.0)] * ENOUGH_QUESTIONS) == [STUCK]


def test_a_judge_that_tells_cells_apart_is_not_stuck() -> None:
    assert judged([(1.0, 0.0)] * HALF, [(0.0, 0.0)] * HALF) == [[], []]


def test_few_answers_prove_nothing_of_a_judge() -> None:
    assert judged([(1.0, 0.0)] * HALF) == [[]]


def test_a_judge_may_find_all_wrong_or_right_that_exact_match_finds_so() -> None:
    assert judged([(0.0, 0.0)] * ENOUGH_QUESTIONS) == [[]]
    assert judged([(1.0, 1.0)] * ENOUGH_QUESTIONS) == [[]]


def test_what_was_not_judged_says_nothing_of_the_judge() -> None:
    assert judged([(0.5, 0.0)] * ENOUGH_QUESTIONS + [(None, 0.0)], [(None, 0.0)]) == [STUCK, []]


def test_the_report_says_it_in_words() -> None:
    (found,) = check_cells(ScoreTable((scored(without_calls(sound())),))).values()
    assert [one.guard for one in found] == ["no_calls"]
    assert "none of its 3 completed questions asked it anything" in found[0].message
