from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arena.leaderboard.gap import GapSummary, ReaderCell, gaps
from arena.leaderboard.metrics import QuestionResamples
from arena.types import Cell, Question

IDS = tuple(f"q{place:03}" for place in range(100))
RESAMPLES = QuestionResamples([Question(one, "?", "multi_hop", 2) for one in IDS], seed=0)


def reader(strategy: str, mode: str, n_right: int, tokens: float | None = 2000.0, llm: str = "fake:") -> ReaderCell:
    return ReaderCell(Cell(strategy, mode, llm, {}), IDS, (np.arange(100) < n_right).astype(np.float64), tokens)


CEILING_ROLE = ("oracle", "gold")
FLOOR, CEILING = reader("closed_book", "none", 20), reader("oracle", "gold", 80)


def of(*readers: ReaderCell) -> list[GapSummary | None]:
    return gaps(readers, RESAMPLES)


def only(*readers: ReaderCell) -> GapSummary:
    (found,) = [one for one in of(*readers) if one is not None]
    return found


def test_half_way_is_a_half_and_costs_are_per_thousand_tokens() -> None:
    gap = only(reader("vanilla", "dense", 50), FLOOR, CEILING)
    assert (gap.n, gap.withheld) == (100, None)
    assert gap.recovered == pytest.approx(0.5)
    assert gap.per_thousand_tokens == pytest.approx(0.25)
    assert gap.ci_low is not None
    assert gap.ci_high is not None
    assert 0.3 < gap.ci_low < 0.5 < gap.ci_high < 0.7


def test_a_cell_may_leave_the_range() -> None:
    assert only(reader("vanilla", "dense", 10), FLOOR, CEILING).recovered == pytest.approx(-1 / 6)
    assert only(reader("vanilla", "dense", 95), FLOOR, CEILING).recovered == pytest.approx(75 / 60)


def test_the_controls_have_no_gap_of_their_own_but_other_gold_rows_do() -> None:
    found = of(FLOOR, CEILING, reader("oracle_minus_one_hop", "gold", 50))
    assert [one is None for one in found] == [True, True, False]


def test_without_controls_nothing_is_said_and_with_one_what_is_missing() -> None:
    assert of(reader("vanilla", "dense", 50)) == [None]
    gap = only(reader("vanilla", "dense", 50), FLOOR)
    assert (gap.recovered, gap.withheld) == (None, "no row of oracle with this model and these parameters")


def test_a_row_without_answers_has_no_gap() -> None:
    silent = replace(reader("retrieval_only", "dense", 0), values=np.full(100, np.nan))
    assert of(silent, FLOOR, CEILING) == [None, None, None]


def test_answers_of_no_known_model_have_no_controls_to_lie_between() -> None:
    predicted = reader("predictions:mine", "none", 50)
    assert of(replace(predicted, cell=replace(predicted.cell, llm=None)), FLOOR, CEILING) == [None, None, None]


def test_controls_are_those_of_the_same_model() -> None:
    others = [reader("closed_book", "none", 0, llm="openai:b"), reader("oracle", "gold", 100, llm="openai:b")]
    found = of(reader("vanilla", "dense", 50), reader("vanilla", "dense", 50, llm="openai:b"), FLOOR, CEILING, *others)
    assert [one.recovered for one in found if one] == pytest.approx([0.5, 0.5])
    assert only(reader("vanilla", "dense", 50, llm="openai:c"), FLOOR, CEILING).withheld is not None


def test_of_several_controls_those_with_the_cells_parameters_count() -> None:
    def at(temperature: float, one: ReaderCell) -> ReaderCell:
        return replace(one, cell=replace(one.cell, params={"temperature": temperature}))

    cold, warm = at(0.0, FLOOR), at(1.0, reader("closed_book", "none", 40))
    assert only(at(0.0, reader("vanilla", "dense", 50)), cold, warm, CEILING).recovered == pytest.approx(0.5)
    assert only(at(1.0, reader("vanilla", "dense", 50)), cold, warm, CEILING).recovered == pytest.approx(0.25)
    untold = only(reader("vanilla", "dense", 50), cold, warm, CEILING)
    assert untold.withheld == "several rows of closed_book with this model and these parameters"


def test_a_gap_that_is_not_there_or_may_be_chance_is_withheld() -> None:
    closed = only(reader("vanilla", "dense", 50), FLOOR, reader("oracle", "gold", 20))
    assert (closed.recovered, closed.withheld) == (None, "the oracle is not above closed book")
    ceiling = reader("oracle", "gold", 21)
    chance = only(reader("vanilla", "dense", 50), FLOOR, ceiling)
    assert (chance.recovered, chance.withheld) == (None, "the gap between closed book and oracle may be chance")


def test_of_few_questions_a_gap_may_be_chance_too() -> None:
    def on(n: int, one: ReaderCell) -> ReaderCell:
        return replace(one, ids=IDS[:n], values=np.full(n, float(one.role == CEILING_ROLE)))

    few, some = (only(*(on(n, one) for one in (reader("vanilla", "dense", 0), FLOOR, CEILING))) for n in (2, 12))
    assert (few.recovered, few.withheld) == (None, "the gap between closed book and oracle may be chance")
    assert (some.recovered, some.ci_low, some.withheld) == (0.0, None, None)


def test_a_row_that_is_withheld_takes_the_gap_with_it() -> None:
    gap = only(reader("vanilla", "dense", 50), FLOOR, replace(CEILING, withheld="coverage 60.0% is under 95%"))
    assert (gap.recovered, gap.withheld) == (None, "oracle: coverage 60.0% is under 95%")


def test_only_questions_that_all_three_have_count() -> None:
    holed = reader("vanilla", "dense", 50)
    values = holed.values.copy()
    values[50:] = np.nan
    gap = only(replace(holed, values=values), FLOOR, CEILING)
    assert gap.n == 50
    assert gap.recovered == pytest.approx(1.0)
    short = ReaderCell(holed.cell, IDS[:30], np.ones(30), None)
    gap = only(short, FLOOR, CEILING)
    assert (gap.n, gap.per_thousand_tokens) == (30, None)
    assert gap.recovered == pytest.approx(1.0)
