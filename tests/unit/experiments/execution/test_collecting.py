from __future__ import annotations

import gc

import pytest

from experiments.execution import process
from experiments.execution.process import short_pauses


@pytest.fixture(autouse=True)
def _nothing_is_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a process begins: a `short_pauses` is open around all tests."""
    monkeypatch.setattr(process, "_spares", False)


def test_what_was_there_before_is_spared_until_the_end() -> None:
    gc.unfreeze()
    with short_pauses():
        assert gc.get_freeze_count() > 1_000
    assert gc.get_freeze_count() == 0


def test_it_is_given_back_after_an_error_too() -> None:
    gc.unfreeze()
    with pytest.raises(ValueError, match="x"), short_pauses():
        raise ValueError("x")
    assert gc.get_freeze_count() == 0


def test_one_within_another_spares_nothing_and_gives_nothing_back() -> None:
    """What is spared may still die, of its last reference: the count falls, and never grows."""
    with short_pauses():
        spared = gc.get_freeze_count()
        made = [[one] for one in range(100)]
        with short_pauses():
            assert 1_000 < gc.get_freeze_count() <= spared
        assert 1_000 < gc.get_freeze_count() <= spared
    assert gc.get_freeze_count() == 0
    assert len(made) == 100
