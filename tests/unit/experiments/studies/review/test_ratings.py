from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import RunStoreError
from arena.store import RunStore
from arena.store.runs import write_review
from experiments.studies.review.reading import Rating, merge_ratings, rating_lines, read_ratings

ANNA = Rating("r-1", "a", "q1", "Anna", 0, {"correct": "y"}, "sure,\u2028or not?")
BEN = replace(ANNA, rater="Ben", marks={"correct": "n"}, note="")


def test_ratings_are_kept_and_read_back_in_one_order(tmp_path: Path) -> None:
    text = rating_lines([BEN, ANNA])
    assert text == rating_lines([ANNA, BEN])
    write_review(tmp_path, text)
    assert read_ratings(RunStore(tmp_path)) == [ANNA, BEN]


def test_without_a_review_there_are_none(tmp_path: Path) -> None:
    assert read_ratings(RunStore(tmp_path)) == []


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    write_review(tmp_path, rating_lines([ANNA]) + rating_lines([BEN]).replace('"n"', '"maybe"'))
    with pytest.raises(RunStoreError, match=r"review.jsonl of run .*, line 2: marks.correct: "):
        read_ratings(RunStore(tmp_path))


def test_a_rater_replaces_only_what_the_same_rater_said_of_the_same_answer() -> None:
    other = replace(ANNA, row_id="r-2", question_id="q2")
    changed = replace(ANNA, marks={"correct": "n"})
    merged, became = merge_ratings([ANNA, BEN, other], [changed, replace(changed, repeat=1), BEN])
    assert set(map(repr, merged)) == set(map(repr, [changed, replace(changed, repeat=1), BEN, other]))
    assert became == {"added": {}, "replaced": {"Anna": 1}, "unchanged": {"Ben": 1}}
    once_more, became = merge_ratings(merged, [changed, replace(changed, repeat=1)])
    assert rating_lines(once_more) == rating_lines(merged)
    assert became["unchanged"] == {"Anna": 1}
