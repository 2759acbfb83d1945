from __future__ import annotations

import random

import pytest

from arena.errors import DatasetError
from experiments.studies.papers.numbers import MUSIQUE_DEV, draw

IDS = [f"2hop__{number}_{number}" for number in range(MUSIQUE_DEV)]


def test_the_draw_is_that_of_the_released_script() -> None:
    """It seeds the module's generator once a process, and samples once: 100, then 500 of those left over."""
    random.seed(13370)
    development = set(random.sample(IDS, 100))
    random.seed(13370)
    assert list(draw(IDS)) == random.sample([one for one in IDS if one not in development], 500)


def test_it_draws_five_hundred_others_than_those_for_development() -> None:
    drawn = draw(IDS)
    assert len(set(drawn)) == 500
    assert set(drawn) < set(IDS)
    assert draw(tuple(IDS)) == drawn


def test_another_file_is_refused() -> None:
    with pytest.raises(DatasetError, match=r"2,417 of musique_ans_v1.0_dev.jsonl, and these are 2,416"):
        draw(IDS[1:])
