from __future__ import annotations

import gc

import pytest

from experiments.execution.process import short_pauses


@pytest.fixture
def old() -> list[list[None]]:
    """What a process has at hand when its run begins."""
    made: list[list[None]] = [[] for _ in range(60_000)]
    gc.collect()
    return made


def test_what_was_there_before_is_spared_until_the_end(old: list[list[None]]) -> None:
    gc.unfreeze()
    with short_pauses():
        assert gc.get_freeze_count() > len(old)
    assert gc.get_freeze_count() == 0


def test_it_is_given_back_after_an_error_too(old: list[list[None]]) -> None:
    gc.unfreeze()
    with pytest.raises(ValueError, match="x"), short_pauses():
        raise ValueError("x")
    assert gc.get_freeze_count() == 0


def test_what_the_caller_has_spared_stays_spared(old: list[list[None]]) -> None:
    gc.freeze()
    spared = gc.get_freeze_count()
    with short_pauses():
        assert gc.get_freeze_count() == spared
    assert gc.get_freeze_count() == spared > len(old)
