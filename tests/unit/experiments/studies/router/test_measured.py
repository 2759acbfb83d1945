from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError, RunStoreError
from arena.sampling import part_of
from experiments.studies.router.data import open_ways_run, training_set
from experiments.studies.router.measure import cross_validated, on_another_run
from experiments.studies.router.training import LightTrainer
from tests.letter_embedder import LetterEmbedder
from tests.unit.experiments.studies.router.planted import planted
from tests.unit.experiments.studies.router.scripted_reader import EACH_ITS_OWN, ways_run

TRAINER = LightTrainer(LetterEmbedder())


@pytest.fixture
def base(tmp_path: Path) -> Path:
    dataset = planted(tmp_path / "data")
    ways_run(tmp_path / "dev", dataset, EACH_ITS_OWN, "dev")
    ways_run(tmp_path / "eval", dataset, EACH_ITS_OWN, "eval", prompted=lambda question: "C")
    ways_run(tmp_path / "stranger", dataset, EACH_ITS_OWN, "eval", llm="openai:other")
    return tmp_path


def test_another_run_is_measured_on_its_part_eval_alone(base: Path) -> None:
    run = open_ways_run(base / "dev", None)
    trained = TRAINER.fit(training_set(run, "both").examples)
    held_out = on_another_run(trained, open_ways_run(base / "eval", None), run, "both")
    assert len(held_out.routed) == 12
    assert all(part_of(one.question_id) == "eval" for one in held_out.routed)
    assert {one.prompted for one in held_out.routed} == {"C"}
    assert held_out.how == "the part eval, from run eval"


def test_a_run_without_the_part_eval_another_reader_or_other_data_is_refused(base: Path, tmp_path: Path) -> None:
    run = open_ways_run(base / "dev", None)
    trained = TRAINER.fit(training_set(run, "both").examples)
    with pytest.raises(ConfigError, match="'dev' has no labelled question of the part eval"):
        on_another_run(trained, run, run, "both")
    with pytest.raises(ConfigError, match=r"read by 'openai:other' and 'dev' by 'fake:reader.yaml'"):
        on_another_run(trained, open_ways_run(base / "stranger", None), run, "both")
    other = planted(tmp_path / "other", single=2, multi=2)
    ways_run(base / "elsewhere", other, EACH_ITS_OWN, "eval")
    with pytest.raises(RunStoreError, match="nothing keeps their questions apart"):
        on_another_run(trained, open_ways_run(base / "elsewhere", None), run, "both")


def test_cross_validation_routes_every_training_question_by_others(base: Path) -> None:
    run = open_ways_run(base / "dev", None)
    examples = training_set(run, "both").examples
    held_out = cross_validated(TRAINER, examples, run, "both")
    assert [one.question_id for one in held_out.routed] == [one.question_id for one in examples]
    assert "in 5 parts" in held_out.how


def test_one_family_cannot_be_cross_validated(base: Path) -> None:
    run = open_ways_run(base / "dev", None)
    kin = [replace(one, family=0) for one in training_set(run, "both").examples]
    with pytest.raises(ConfigError, match="measure on a run of the part eval, --eval RUN"):
        cross_validated(TRAINER, kin, run, "both")
