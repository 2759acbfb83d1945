from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError, RunStoreError
from arena.types import Dataset
from experiments.studies.router.data import Taken, open_ways_run
from tests.samples import failed
from tests.unit.experiments.made_runs import made_run
from tests.unit.experiments.studies.router.planted import planted
from tests.unit.experiments.studies.router.scripted_reader import (
    EACH_ITS_OWN,
    READER,
    outcomes,
    ways_cells,
    ways_run,
)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return planted(tmp_path / "data", single=2, multi=2)


def test_a_run_tells_what_came_of_every_way(tmp_path: Path, dataset: Dataset) -> None:
    ways_run(tmp_path / "run", dataset, EACH_ITS_OWN, "dev", prompted=lambda question: "B")
    run = open_ways_run(tmp_path / "run", None)
    single, multi = (next(one.question_id for one in dataset.questions if one.hops == hops) for hops in (1, 2))
    assert run.taken[single] == {"A": Taken(False, 0), "B": Taken(True, 1), "C": Taken(False, 10)}
    assert run.taken[multi] == {"A": Taken(False, 0), "B": Taken(False, 1), "C": Taken(True, 3)}
    assert (run.reader, run.mode, run.run_id) == (READER, "hybrid", "run")
    assert run.labels.by_id[single] == ("B", "silver")
    assert run.labels.by_id[multi] == ("C", "silver")
    assert set(run.prompted.values()) == {"B"}
    assert len(run.prompted) == 4


def test_the_way_on_which_a_question_failed_is_not_known(tmp_path: Path, dataset: Dataset) -> None:
    question = dataset.questions[0]
    records = list(outcomes(dataset, question, EACH_ITS_OWN))
    records[0] = failed(question.question_id, of=records[0].cell)
    made_run(tmp_path / "run", dataset.name, dataset, records)
    run = open_ways_run(tmp_path / "run", None)
    assert set(run.taken[question.question_id]) == {"B", "C"}
    assert (run.labels.by_id, run.labels.left_out) == ({}, 1)


def test_a_run_of_two_readers_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    question = dataset.questions[0]
    records = list(outcomes(dataset, question, EACH_ITS_OWN))
    records[2] = replace(records[2], cell=replace(records[2].cell, llm="openai:other"))
    made_run(tmp_path / "run", dataset.name, dataset, records)
    with pytest.raises(ConfigError, match=r"were answered by fake:reader.yaml, openai:other: a router is for one"):
        open_ways_run(tmp_path / "run", None)


def test_a_run_without_all_ways_says_what_to_run(tmp_path: Path, dataset: Dataset) -> None:
    made_run(tmp_path / "run", dataset.name, dataset, list(outcomes(dataset, dataset.questions[0], EACH_ITS_OWN))[:2])
    with pytest.raises(ConfigError, match="run 'run': the run has no cell for label C"):
        open_ways_run(tmp_path / "run", None)


def test_of_several_modes_one_is_named(tmp_path: Path, dataset: Dataset) -> None:
    records = []
    for mode in ("hybrid", "dense"):
        cells = ways_cells(mode=mode)
        found = outcomes(dataset, dataset.questions[0], EACH_ITS_OWN)
        records += [replace(one, cell=cell) for one, cell in zip(found, cells.values(), strict=True)]
    made_run(tmp_path / "run", dataset.name, dataset, records)
    with pytest.raises(ConfigError, match=r"2 cells for label A .*name one retrieval mode"):
        open_ways_run(tmp_path / "run", None)
    assert open_ways_run(tmp_path / "run", "dense").mode == "dense"


def test_an_unfinished_run_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    records = list(outcomes(dataset, dataset.questions[0], EACH_ITS_OWN))
    made_run(tmp_path / "run", dataset.name, dataset, records, status="running")
    with pytest.raises(RunStoreError, match="is not finished: go on with"):
        open_ways_run(tmp_path / "run", None)
