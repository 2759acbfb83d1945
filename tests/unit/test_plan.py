from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import RunStoreError
from arena.plan import PlannedCell, RunPlan, Shard, is_extension, read_plan
from tests.samples import cell

VANILLA, IRCOT = cell("vanilla"), cell("ircot")
PLAN = RunPlan((PlannedCell(VANILLA, ("q1", "q2", "q3")), PlannedCell(IRCOT, ("q1", "q3"), "T1")))


def test_keys_go_question_by_question_through_all_cells() -> None:
    assert PLAN.keys() == [
        (VANILLA.key, "q1"), (IRCOT.key, "q1"), (VANILLA.key, "q2"), (VANILLA.key, "q3"), (IRCOT.key, "q3"),
    ]  # fmt: skip


@pytest.mark.parametrize("shard", [None, Shard(2, 3)])
def test_a_plan_comes_back_from_its_file(shard: Shard | None) -> None:
    plan = RunPlan(PLAN.cells, shard)
    assert read_plan(json.dumps(plan.to_json()), "plan.json") == plan


def test_cells_with_the_same_questions_share_a_sample() -> None:
    plan = RunPlan((PlannedCell(VANILLA, ("q1", "q2")), PlannedCell(IRCOT, ("q1", "q2"))))
    assert plan.to_json()["samples"] == {"s1": ["q1", "q2"]}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": [{}], "samples": {}}', '{"cells": 5, "samples": {}}'])
def test_what_is_no_plan_is_named(text: str) -> None:
    with pytest.raises(RunStoreError, match=r"plan\.json of run 'r1' is damaged"):
        read_plan(text, "plan.json of run 'r1'")


@given(ids=st.lists(st.text(min_size=1), unique=True), of=st.integers(min_value=1, max_value=9))
def test_shards_part_the_questions_whole_and_keep_all_cells_of_one_together(ids: list[str], of: int) -> None:
    whole = RunPlan((PlannedCell(VANILLA, tuple(ids)), PlannedCell(IRCOT, tuple(ids[::2]))))
    shares = [RunPlan(whole.cells, Shard(index, of)).share() for index in range(1, of + 1)]
    keys = [key for share in shares for key in share.keys()]  # noqa: SIM118  a plan is no mapping
    assert sorted(keys) == sorted(whole.keys())
    assert len(keys) == len(set(keys))
    places: dict[str, set[int]] = {}
    for number, share in enumerate(shares):
        for _, question_id in share.keys():  # noqa: SIM118
            places.setdefault(question_id, set()).add(number)
    assert all(len(numbers) == 1 for numbers in places.values())


def test_shards_are_of_about_one_size() -> None:
    ids = tuple(f"2hop__{number}_{number * 7}" for number in range(3_000))
    sizes = [len(RunPlan((PlannedCell(VANILLA, ids),), Shard(index, 3)).share().keys()) for index in (1, 2, 3)]
    assert all(900 < size < 1_100 for size in sizes)


def test_a_share_without_questions_of_a_cell_leaves_the_cell_out() -> None:
    shares = [RunPlan((PlannedCell(VANILLA, ("q1",)),), Shard(index, 2)).share() for index in (1, 2)]
    assert sorted(len(share.cells) for share in shares) == [0, 1]


def test_a_plan_that_only_adds_is_an_extension() -> None:
    more = RunPlan((PlannedCell(IRCOT, ("q0", "q1", "q3")), *PLAN.cells[:1], PlannedCell(cell("self_rag"), ("q1",))))
    assert is_extension(PLAN, PLAN) == []
    assert is_extension(PLAN, more) == []
    assert is_extension(more, PLAN) == [
        f"1 questions of {IRCOT.key} were planned and are not in the new sample",
        f"cell {cell('self_rag').key} was run and is not in the new settings",
    ]
