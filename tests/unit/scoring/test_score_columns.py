from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics import METRICS
from arena.scoring import ScoreTable, score_records
from arena.scoring.table import QUESTION_TYPES, SCORE_TYPES, question_columns, score_columns
from arena.types import Dataset
from tests.samples import answered, call, cell, failed


@pytest.fixture
def table(dataset: Dataset) -> ScoreTable:
    warming = replace(answered("q1", "Ostrand", ("d1", "d4")), warm_up=True)
    replayed = replace(answered("q2", "1871", ("d1",), of=cell(mode="hybrid")), calls=(call(replayed=True),))
    return score_records([warming, failed("q2"), replayed], dataset)


def test_every_score_has_a_row_with_its_reason(table: ScoreTable) -> None:
    columns = score_columns(table)
    assert list(columns) == list(SCORE_TYPES)
    assert {len(column) for column in columns.values()} == {3 * len(METRICS)}
    rows = list(zip(*columns.values(), strict=True))
    assert (cell().key, "q2", "answer_em", None, "failed") in rows
    assert (cell(mode="hybrid").key, "q2", "answer_em", 1.0, None) in rows


def test_every_question_of_every_cell_has_a_row(table: ScoreTable) -> None:
    columns = question_columns(table)
    assert list(columns) == list(QUESTION_TYPES)
    first, second, third = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    assert (first["question_id"], first["outcome"], first["answer"]) == ("q1", "answered", "Ostrand")
    assert (first["em"], first["f1"], first["recall"]) == (1.0, 1.0, 0.5)
    assert (first["input_tokens"], first["output_tokens"], first["calls"], first["retrievals"]) == (100, 5, 1, 1)
    assert (first["measured"], first["warm_up"], first["usd"]) == (False, True, None)
    assert (second["failure"], second["answer"], second["em"]) == ("provider_failed", None, None)
    assert (second["input_tokens"], second["retrievals"]) == (None, 0)
    assert (third["cell"], third["measured"]) == (cell(mode="hybrid").key, False)


def test_where_the_evidence_was_lost_is_in_the_row(dataset: Dataset) -> None:
    columns = question_columns(score_records([answered("q1", "Nobody", ("d1",))], dataset))
    assert (columns["hop"], columns["document"]) == ([2], ["d2"])


def test_a_table_of_nothing_has_columns_and_no_rows(dataset: Dataset) -> None:
    empty = score_records([], dataset)
    assert set(map(len, question_columns(empty).values())) == {0}
    assert set(map(len, score_columns(empty).values())) == {0}
