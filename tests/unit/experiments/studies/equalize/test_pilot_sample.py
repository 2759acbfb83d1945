"""Settings are found on other questions than those of the comparison."""

from __future__ import annotations

import pytest

from arena.config import RunConfig, validate_config
from arena.datasets import load_dataset
from arena.errors import ConfigError
from arena.sampling import in_part
from experiments.studies.equalize.equalize import evaluated_config
from experiments.studies.equalize.runs import pilot_sample

DEV = [one.question_id for one in in_part(load_dataset("world").questions, "dev")]


def config(**sample: object) -> RunConfig:
    return validate_config({"dataset": "world", "sample": sample}, "test")


def test_all_questions_become_eval_and_pilots_are_of_dev() -> None:
    asked = evaluated_config(config(limit=12))
    assert (asked.sample.part, asked.sample.limit) == ("eval", 12)
    assert (pilot_sample(asked, 7).part, pilot_sample(asked, 7).limit) == ("dev", 7)
    assert pilot_sample(asked, None).limit == 30


def test_named_questions_are_never_in_a_pilot() -> None:
    asked = evaluated_config(config(ids=DEV[:5]))
    assert asked.sample.ids == tuple(DEV[:5])
    drawn = pilot_sample(asked, 8).ids
    assert drawn is not None
    assert len(drawn) == 8
    assert set(drawn) <= set(DEV[5:])


def test_without_another_question_there_is_no_pilot() -> None:
    with pytest.raises(ConfigError, match="no question of 'world' is left for the pilots"):
        pilot_sample(config(ids=DEV), None)
    with pytest.raises(ConfigError, match="set it to eval"):
        pilot_sample(config(part="dev"), None)
