"""Kills (-9) at random moments. `python -m tests.integration.kills 50` does as many as one likes."""

from __future__ import annotations

from tests.integration.kills import main


def test_three_kills_lose_nothing_double_nothing_and_change_no_result() -> None:
    found = main(3, seed=1, limit=16)
    assert sum(found["kills"].values()) == 3
    assert found["records"] > 16
