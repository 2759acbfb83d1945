from __future__ import annotations

import pytest

from arena.errors import ConfigError
from arena.plan import PlannedCell
from arena.report.names import name_of
from arena.types import Cell, Scalar
from experiments.studies.gate.cells import Pairing, changed_settings, pair_cells
from experiments.studies.gate.policy import CellPair


def planned(strategy: str, mode: str = "dense", llm: str | None = "m", **params: Scalar) -> PlannedCell:
    return PlannedCell(Cell(strategy, mode, llm, params), ("q1",))


def names(pairing: Pairing) -> list[tuple[str, str]]:
    return [(new.cell.key, old.cell.key) for new, old in pairing.pairs]


def test_equal_cells_are_paired_and_what_only_one_has_is_named() -> None:
    same, new, old = planned("vanilla", k=5), planned("ircot"), planned("oracle", "gold")
    pairing = pair_cells([same, new], [old, same])
    assert names(pairing) == [(same.cell.key, same.cell.key)]
    assert (pairing.added, pairing.gone) == ((new,), (old,))


def test_a_changed_cell_takes_the_place_of_the_one_of_its_strategy_and_mode() -> None:
    before, after, other = planned("vanilla", k=5), planned("vanilla", k=10, llm="n"), planned("vanilla", "hybrid")
    pairing = pair_cells([after, other], [before, other])
    assert names(pairing) == [(after.cell.key, before.cell.key), (other.cell.key, other.cell.key)]
    assert changed_settings(after.cell, before.cell) == ["k: 5 -> 10", "llm: m -> n"]


def test_namesakes_are_paired_by_the_setting_that_tells_them_apart() -> None:
    old = [planned("vanilla", k=k, prompt="a") for k in (5, 10)]
    new = [planned("vanilla", k=k, prompt="b") for k in (10, 5)]
    pairing = pair_cells(new, old)
    assert names(pairing) == [(new[0].cell.key, old[1].cell.key), (new[1].cell.key, old[0].cell.key)]
    assert name_of(new[0].cell, [one.cell for one in new]) == "vanilla + dense (k=10)"


def test_what_may_belong_together_in_several_ways_is_refused_until_the_policy_says() -> None:
    old = [planned("vanilla", k=k) for k in (5, 10)]
    new = [planned("vanilla", k=k) for k in (3, 4)]
    with pytest.raises(ConfigError) as caught:
        pair_cells(new, old)
    for part in ("vanilla/dense", new[0].cell.key, old[1].cell.key, "k=3", "k=10", "pairs: [{run: "):
        assert part in str(caught.value)
    by_hand = [CellPair(run=new[0].cell.key, baseline=old[1].cell.key)]
    pairing = pair_cells(new, old, by_hand)
    assert names(pairing) == [(new[0].cell.key, old[1].cell.key), (new[1].cell.key, old[0].cell.key)]


def test_a_cell_paired_by_hand_may_be_of_another_strategy() -> None:
    new, old = planned("ircot"), planned("vanilla")
    pairing = pair_cells([new], [old], [CellPair(run=new.cell.key, baseline=old.cell.key)])
    assert names(pairing) == [(new.cell.key, old.cell.key)]


@pytest.mark.parametrize("side", ["run", "baseline"])
def test_a_pair_of_a_cell_that_is_not_there_is_refused(side: str) -> None:
    here = planned("vanilla", k=5)
    keys = {"run": here.cell.key, "baseline": here.cell.key} | {side: here.cell.key[:-1]}
    with pytest.raises(ConfigError, match=f"which the {side} does not have: did you mean '{here.cell.key}'"):
        pair_cells([here], [here], [CellPair(**keys)])
