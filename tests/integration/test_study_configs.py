"""Every study loads, says what it would take, and goes through on ten questions in its dataset's format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from arena.config import RunConfig, load_config
from strategies import find_variant
from tests.integration.conftest import Arena
from tests.integration.study_data import write_musique, write_popqa, write_ragrouter
from tests.tiny_t5 import build_tiny_t5

CONFIGS = Path(__file__).parents[2] / "experiments" / "configs"
SAMPLE = 10


class Study(NamedTuple):
    """A config, how its data are written and under what name, and its cells on these."""

    name: str
    write: Callable[[Path], str]
    place: str
    n_cells: int


STUDIES = (
    Study("rag_arena", write_ragrouter, "musique_part", 12),
    Study("adaptive_rag_table2", write_musique, "musique_dev.jsonl", 4),
    Study("self_rag_popqa", write_popqa, "popqa_longtail", 4),
    Study("crag_popqa", write_popqa, "popqa_longtail", 3),
    Study("ircot_musique", write_musique, "musique_dev.jsonl", 4),
    Study("ragrouter_table2", write_ragrouter, "musique_part", 2),
    Study("musique_open", write_musique, "musique_dev.jsonl", 20),
)


def path_of(study: Study) -> Path:
    return CONFIGS / f"{study.name}.yaml"


def config_of(study: Study) -> RunConfig:
    return load_config(path_of(study), {})


@pytest.fixture(params=STUDIES, ids=lambda study: study.name)
def study(request: pytest.FixtureRequest) -> Study:
    chosen = request.param
    assert isinstance(chosen, Study)
    return chosen


@pytest.fixture
def options(study: Study, tmp_path: Path, tiny_embedder: Path) -> list[str]:
    """Data, models that are at hand, and a place for runs."""
    config = config_of(study)
    given = ["--dataset", study.write(tmp_path / study.place), "--runs-dir", str(tmp_path / "runs")]
    settings = [f"embedding.model={tiny_embedder}"]
    if "hybrid_rerank" in config.modes:
        settings += ["rerank.model=late_interaction", "rerank.threshold=default", "embedding.multivectors=true"]
    if "t5" in str(config.strategy_params):
        settings.append(f"strategy_params.corrective.checkpoint={build_tiny_t5(tmp_path / 't5')}")
    return [*given, *(part for one in settings for part in ("--set", one))]


def test_every_config_on_data_of_others_is_a_study_here() -> None:
    """The others are on the bundled world."""
    configs = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in CONFIGS.glob("*.yaml")}
    assert {name for name, config in configs.items() if config["dataset"] != "world"} == {one.name for one in STUDIES}


def test_its_comment_says_purpose_cost_and_hardware(study: Study) -> None:
    comment = path_of(study).read_text(encoding="utf-8").partition("\n\n")[0]
    assert all(line.startswith("#") for line in comment.splitlines())
    for heading in ("# Purpose   ", "# Cost      ", "Money = ", "# Hardware  "):
        assert heading in comment
    assert max(map(len, comment.splitlines())) <= 120


def test_its_strategies_are_known_under_their_settings(study: Study) -> None:
    config = config_of(study)
    variants = [find_variant(entry, config.strategy_params) for entry in config.strategies]
    assert len({str(variant.settings) + variant.spec.name for variant in variants}) == len(config.strategies)


def test_a_dry_run_says_calls_tokens_money_and_hours(arena: Arena, study: Study, options: list[str]) -> None:
    done = arena("run", path_of(study), *options, "--dry-run", "--json")
    assert done.code == 0, done.err
    expected = json.loads(done.out)
    assert len(expected["cells"]) == study.n_cells
    assert not any(cell["n_failed"] for cell in expected["cells"])
    assert expected["total"]["calls"] > 0
    assert expected["total"]["input_tokens"] > 0
    assert {"usd", "hours"} <= expected["total"].keys()
    readers = [one["llm"] for one in expected["work"]]
    assert readers[0] == config_of(study).llm.model


def test_ten_questions_go_through(arena: Arena, study: Study, options: list[str], tmp_path: Path) -> None:
    config = config_of(study)
    fakes = ["--llm", "fake:", "--set", "llm.base_url=null", *(["--judge", "fake:"] if config.judge else [])]
    asked = ["--limit", str(SAMPLE), "--run-id", "ten", "--no-mlflow"]
    done = arena("run", path_of(study), *options, *fakes, *asked, "--json")
    assert done.code == 0, done.err
    cells = json.loads(done.out)["cells"]
    assert len(cells) == study.n_cells
    assert {cell["n_questions"] for cell in cells} == {SAMPLE}
    assert not any(cell["n_failed"] for cell in cells)
    compared = arena("papers", "compare", tmp_path / "runs" / "ten", "--json")
    assert compared.code == 0, compared.err
    rows = json.loads(compared.out)["comparisons"]
    assert any(row["cell"] for row in rows)
    assert {row["badge"] for row in rows} == {"reference only"}


def test_the_flagship_says_how_it_is_calibrated_and_that_corrective_has_no_second_source() -> None:
    path = CONFIGS / "rag_arena.yaml"
    text = path.read_text(encoding="utf-8")
    assert "arena calibrate runs/rag_arena_dev" in text
    assert "corrective has no second source here" in text
    assert load_config(path, {}).sample.part == "eval"
