from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from experiments.studies.router.data import family_folds


def test_parts_are_about_equal_where_families_allow() -> None:
    assert sorted(len(part) for part in family_folds(list(range(13)), 5, 0)) == [2, 2, 3, 3, 3]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 6), st.integers(0, 99))
def test_every_place_is_in_one_part_and_no_family_in_two(families: list[int], folds: int, seed: int) -> None:
    parts = family_folds(families, folds, seed)
    assert sorted(place for part in parts for place in part) == list(range(len(families)))
    assert len(parts) == min(folds, len(set(families)))
    assert all(parts)
    for family in set(families):
        assert sum(any(families[place] == family for place in part) for part in parts) == 1
    assert parts == family_folds(families, folds, seed)
