from __future__ import annotations

import pytest

from docs.build.seed_systems import columns_of, line_of, part_of

OUTPUT = """\
world, 240 documents
strategy              mode     n       recall      seconds
──────────────────────────────────────────────────────────
vanilla               hybrid  60         0.59  0.01 / 0.03
closed_book           none    60            –  0.00 / 0.04
n = questions asked; a metric's own n may be smaller.

threshold        refused  kept
──────────────────────────────
none       best     0.00  1.00
0.07                      0.82
AUC 0.07
  a note that
goes on

Gate passed: of 6 checks
"""


def test_columns_are_taken_by_name_and_a_sentence_ends_the_table() -> None:
    assert columns_of(OUTPUT, ["recall", "strategy"]).splitlines() == [
        "| recall | strategy |",
        "| --- | --- |",
        "| 0.59 | vanilla |",
        "| – | closed_book |",
    ]


def test_a_cell_may_be_empty_or_stand_under_no_heading() -> None:
    rows = columns_of(OUTPUT, ["threshold", "refused", "kept"]).splitlines()[2:]
    assert rows == ["| none | 0.00 | 1.00 |", "| 0.07 |  | 0.82 |"]


def test_a_part_goes_to_the_next_empty_line() -> None:
    assert part_of(OUTPUT, "AUC") == "AUC 0.07\n  a note that\ngoes on"
    assert part_of(OUTPUT, "Gate") == "Gate passed: of 6 checks"


def test_a_line_is_only_the_line() -> None:
    assert line_of(OUTPUT, "a note") == "a note that"


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no table has the columns recall, kept"):
        columns_of(OUTPUT, ["recall", "kept"])
    with pytest.raises(ValueError, match="no line begins with 'Gap'"):
        part_of(OUTPUT, "Gap")
    with pytest.raises(ValueError, match="no line begins with 'Gap'"):
        line_of(OUTPUT, "Gap")
