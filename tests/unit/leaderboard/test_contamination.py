"""What a model knows by heart is told from what it says by chance, and what cells add to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.datasets.world import make_world
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.leaderboard.contamination import ContaminationProbe
from arena.report.figures import Quotes
from arena.report.section import entry_text
from arena.report.sections.contamination import left_out_note, verdict
from arena.scoring import score_records
from arena.types import Cell, Dataset, Gold, Question, RunRecord
from tests.samples import answered, cell, failed

WORLD = make_world(120, 40, 3)
CLOSED, READER = Cell("closed_book", "none", "fake:", {"temperature": 0.0}), cell("vanilla")

Say = Callable[[int, Question, Gold], str | None]


def board_of(closed: Say | None, reader: Say | None = None, dataset: Dataset = WORLD) -> Leaderboard:
    """A run of these two cells; None = the question failed."""
    records: list[RunRecord] = []
    for of, say in ((CLOSED, closed), (READER, reader)):
        for number, one in enumerate(dataset.questions if say else ()):
            text = say(number, one, dataset.gold[one.question_id]) if say else None
            shown = WORLD.documents[0].doc_id
            records.append(
                failed(one.question_id, of=of) if text is None else answered(one.question_id, text, (shown,), of=of)
            )
    table = score_records(records, dataset)
    return build_leaderboard(table, dataset, run_id="r", fingerprint="run_0", tiers={}, seed=0)


def said_of(closed: Say | None, reader: Say | None = None) -> str:
    """The verdict on the model."""
    board = board_of(closed, reader)
    return entry_text(verdict(0, board.contamination[0], Quotes(board)))


def probe_of(closed: Say) -> ContaminationProbe:
    [probe] = board_of(closed).contamination
    return probe


def right(number: int, question: Question, gold: Gold) -> str:
    return gold.answers[0] if gold.answers else "nobody"


def of_another(number: int, question: Question, gold: Gold) -> str:
    """Answers of this world, none of them to its own question."""
    other = WORLD.questions[number - 1]
    return right(0, other, WORLD.gold[other.question_id])


def one_in_three(number: int, question: Question, gold: Gold) -> str:
    return right(number, question, gold) if number % 3 == 0 else "a hill of glass"


def test_answers_that_belong_to_other_questions_are_chance() -> None:
    probe = probe_of(of_another)
    assert probe.finding == "chance"
    whole = probe.groups[0]
    assert whole.metrics["answer_f1"].chance is not None
    assert whole.metrics["answer_f1"].p is not None
    assert whole.metrics["answer_f1"].p > 0.05
    assert "no better than chance" in said_of(of_another)


def test_a_third_known_by_heart_is_found_with_its_share() -> None:
    probe = probe_of(one_in_three)
    assert probe.finding == "above_chance"
    em = probe.groups[0].metrics["answer_em"]
    assert em.own.mean == pytest.approx(sum(n % 3 == 0 and q.kind in ("multi_hop", "single_hop")
                                            for n, q in enumerate(WORLD.questions)) / em.own.n)  # fmt: skip
    assert em.ci_low is not None
    assert em.above is not None
    assert em.p_adjusted is not None
    assert em.p_adjusted < 0.01
    assert em.ci_low <= em.above
    assert said_of(one_in_three).startswith("fake: knows 3")


def test_groups_are_kinds_and_hops_of_questions_with_short_answers() -> None:
    probe = probe_of(right)
    kinds = [one.value for one in probe.groups if one.by == "kind"]
    assert kinds == ["multi_hop", "single_hop"]
    assert sum(one.n for one in probe.groups if one.by == "kind") == probe.groups[0].n
    assert sum(one.n for one in probe.groups if one.by == "hops") == probe.groups[0].n
    assert set(probe.left_out) == {"summary", "unanswerable"}
    assert probe.groups[0].n + sum(probe.left_out.values()) == len(WORLD.questions)
    note = left_out_note(probe)
    assert note is not None
    assert "abstaining is right" in note


def test_abstaining_from_everything_knows_nothing() -> None:
    [probe] = board_of(lambda number, question, gold: "I do not know.").contamination
    assert probe.finding == "chance"
    assert probe.groups[0].metrics["answer_contains"].p == 1.0


def test_too_many_failures_give_no_verdict() -> None:
    def say(number: int, question: Question, gold: Gold) -> str | None:
        return None if number % 4 == 0 else right(number, question, gold)

    assert probe_of(say).finding == "withheld"
    assert "no verdict" in said_of(say)


def test_a_run_without_closed_book_says_how_to_probe() -> None:
    board = board_of(None, right)
    assert [(one.llm, one.finding) for one in board.contamination] == [("fake:", "not_probed")]
    assert "not probed; add closed_book" in said_of(None, right)
    assert board.cells[0].gain_over_closed_book == {}


def test_a_cell_gains_over_what_its_model_knows() -> None:
    board = board_of(one_in_three, right)
    closed, reader = board.cells
    assert closed.gain_over_closed_book == {}
    gain = reader.gain_over_closed_book["answer_em"]
    known = closed.metrics["answer_em"].mean
    assert known is not None
    assert gain.n == closed.metrics["answer_em"].n
    assert gain.difference == pytest.approx(1.0 - known)
    assert gain.difference is not None
    assert gain.ci_low is not None
    assert gain.ci_high is not None
    assert 0.3 < gain.ci_low < gain.difference < gain.ci_high <= 1.0
    assert reader.gain_over_closed_book.keys() == {"answer_em", "answer_f1", "answer_contains"}


def test_a_gain_over_missing_answers_is_withheld() -> None:
    board = board_of(lambda number, question, gold: None if number % 4 == 0 else "glass", right)
    gain = board.cells[1].gain_over_closed_book["answer_em"]
    assert gain.difference is None
    assert gain.withheld is not None
    assert gain.withheld.startswith("closed_book: coverage")


def test_the_same_records_give_the_same_figures_in_any_order() -> None:
    assert board_of(one_in_three, right).model_dump_json() == board_of(one_in_three, right).model_dump_json()


def test_a_file_of_before_the_probe_is_read() -> None:
    board = board_of(one_in_three, right)
    fields = board.model_dump(
        mode="json", exclude={"contamination": True, "cells": {"__all__": {"gain_over_closed_book"}}}
    )
    old = Leaderboard.model_validate(fields)
    assert old.contamination == []
    assert old.cells[1].gain_over_closed_book == {}
