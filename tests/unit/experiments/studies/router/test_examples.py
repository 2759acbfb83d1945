from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.sampling import part_of
from experiments.studies.router.data import open_ways_run, training_set
from tests.unit.experiments.studies.router.planted import planted
from tests.unit.experiments.studies.router.scripted_reader import EACH_ITS_OWN, ScriptedReader, ways_run


def test_questions_that_share_with_the_part_eval_are_kept_out(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=4, multi=4, leaking=4)
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "dev")
    found = training_set(open_ways_run(tmp_path / "run", None), "both")
    trained = {one.question_id for one in found.examples}
    assert all(part_of(one) == "dev" and not one.startswith("leak") for one in trained)
    assert len(trained) == 8
    assert set(found.leakage.out.values()) == {("shared paragraph",)}
    assert found.leakage.counts == {"shared paragraph": 4}
    assert found.labelled == {"B": 4, "C": 8}


def test_what_stays_is_weighted_to_the_labels_before_any_was_kept_out(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=4, multi=4, leaking=4)
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "dev")
    found = training_set(open_ways_run(tmp_path / "run", None), "both")
    weights = {one.label: one.weight for one in found.examples}
    assert weights == pytest.approx({"B": 2 / 3, "C": 4 / 3})
    assert sum(one.weight for one in found.examples) == pytest.approx(len(found.examples))


def test_priors_are_trained_on_only_where_they_are_wanted(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=4, multi=4)
    half = ScriptedReader(lambda hops: "A" if hops == 1 else "", lambda hops: 2)
    ways_run(tmp_path / "run", dataset, half, "dev")
    run = open_ways_run(tmp_path / "run", None)
    assert training_set(run, "both").counts == {("silver", "A"): 4, ("prior", "C"): 4}
    with pytest.raises(ConfigError, match="all 4 training questions are labelled A"):
        training_set(run, "silver")


def test_a_run_that_asks_the_part_eval_is_refused(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=1, multi=1)
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "eval")
    with pytest.raises(ConfigError, match=r"run 'run' is not for training: sample.part is 'eval'"):
        training_set(open_ways_run(tmp_path / "run", None), "both")


def test_where_everything_leaks_nothing_is_left_and_it_is_said(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=0, multi=0, leaking=3)
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "dev")
    with pytest.raises(ConfigError, match=r"no training question is left \(3 were kept out"):
        training_set(open_ways_run(tmp_path / "run", None), "both")


def test_questions_that_hang_together_are_of_one_family(tmp_path: Path) -> None:
    dataset = planted(tmp_path / "data", single=2, multi=2)
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "dev")
    assert [one.family for one in training_set(open_ways_run(tmp_path / "run", None), "both").examples] == [0, 1, 2, 3]
