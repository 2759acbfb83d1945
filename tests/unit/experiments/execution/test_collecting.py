from __future__ import annotations

import gc

import pytest

from experiments.execution.process import short_pauses


def test_what_was_there_before_is_spared_until_the_end() -> None:
    with short_pauses():
        assert gc.get_freeze_count() > 1_000
    assert gc.get_freeze_count() == 0


def test_it_is_given_back_after_an_error_too() -> None:
    with pytest.raises(ValueError, match="x"), short_pauses():
        raise ValueError("x")
    assert gc.get_freeze_count() == 0
