from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from arena.plan import PlannedCell, RunPlan, Shard
from arena.types import Cell
from experiments.execution.identity import changes, differences, line_fingerprints, run_fingerprint

IDENTITY: dict[str, Any] = {
    "dataset": "data_1",
    "config": {"seed": 0, "retrieval": {"k": 5}},
    "arena": "1.0",
    "model": {"temperature": 0.0},
    "model_sha256": "m1",
    "index": {"corpus": "c1"},
    "reranker": {"model": "r1"},
    "external": {"dataset": "d2", "tool": None},
    "contestants": {
        name: {"code": f"{name}-code", "prompts": "p"} for name in ("vanilla", "closed_book", "corrective")
    },
}
DENSE, RERANKED = Cell("vanilla", "dense", "fake:"), Cell("vanilla", "hybrid_rerank", "fake:")
CLOSED = Cell("closed_book", "none", "fake:")
SEARCHING = Cell("corrective", "dense", "fake:", {"external_corpus": "data_2"})
PLAN = RunPlan(tuple(PlannedCell(cell, ("q1",)) for cell in (DENSE, RERANKED, CLOSED, SEARCHING)))


def changed(*path: str) -> dict[str, Any]:
    """The identity with another value there."""
    identity = deepcopy(IDENTITY)
    place = identity
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = "another"
    return identity


@pytest.mark.parametrize(
    ("path", "cells"),
    [
        (("dataset",), [DENSE, RERANKED, CLOSED, SEARCHING]),
        (("config", "seed"), [DENSE, RERANKED, CLOSED, SEARCHING]),
        (("model_sha256",), [DENSE, RERANKED, CLOSED, SEARCHING]),
        (("index", "corpus"), [DENSE, RERANKED, SEARCHING]),
        (("reranker", "model"), [RERANKED]),
        (("external", "dataset"), [SEARCHING]),
        (("contestants", "vanilla", "code"), [DENSE, RERANKED]),
        (("contestants", "closed_book", "prompts"), [CLOSED]),
    ],
)
def test_a_cells_fingerprint_changes_with_what_it_depends_on_alone(path: tuple[str, ...], cells: list[Cell]) -> None:
    before, after = line_fingerprints(IDENTITY, PLAN), line_fingerprints(changed(*path), PLAN)
    assert {key for key in before if before[key] != after[key]} == {cell.key for cell in cells}


def test_cells_can_be_added_and_leave_the_fingerprints_of_others_as_they_are() -> None:
    alone = RunPlan((PlannedCell(CLOSED, ("q1",)),))
    small = IDENTITY | {
        "index": None,
        "reranker": None,
        "external": None,
        "contestants": {"closed_book": IDENTITY["contestants"]["closed_book"]},
    }
    assert line_fingerprints(small, alone)[CLOSED.key] == line_fingerprints(IDENTITY, PLAN)[CLOSED.key]
    assert changes(small, IDENTITY) == []
    assert changes(IDENTITY, small) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (("config", "retrieval", "k"), ["config.retrieval.k: 5 -> 'another'"]),
        (("index", "corpus"), ["index.corpus: 'c1' -> 'another'"]),
        (("contestants", "vanilla", "code"), ["contestants.vanilla.code: 'vanilla-code' -> 'another'"]),
        (("model_sha256",), ["model_sha256: 'm1' -> 'another'"]),
    ],
)
def test_what_changed_is_said_field_by_field(path: tuple[str, ...], said: list[str]) -> None:
    assert changes(IDENTITY, changed(*path)) == said


def test_the_weights_of_a_model_that_nobody_used_are_no_change() -> None:
    without = IDENTITY | {"model": None, "model_sha256": None}
    assert changes(without, IDENTITY) == []


def test_differences_name_the_place_and_both_values() -> None:
    old = {"a": 1, "b": {"c": [1, 2], "d": None}}
    new = {"a": 1, "b": {"c": [1, 3]}, "e": "x"}
    assert differences(old, new) == ["b.c: [1, 2] -> [1, 3]", "e: None -> 'x'"]
    assert differences(old, old) == []


def test_the_run_fingerprint_follows_settings_and_plan_and_is_that_of_every_shard() -> None:
    one = run_fingerprint(IDENTITY, PLAN)
    assert run_fingerprint(dict(reversed(IDENTITY.items())), PLAN) == one
    assert run_fingerprint(IDENTITY, RunPlan(PLAN.cells, Shard(1, 2))) == one
    assert run_fingerprint(changed("arena"), PLAN) != one
    assert run_fingerprint(IDENTITY, RunPlan(PLAN.cells[:3])) != one
