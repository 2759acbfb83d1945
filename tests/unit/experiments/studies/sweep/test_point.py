from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError, UserError
from experiments.studies.sweep.config import Points, find_points, folder_of, load_sweep
from experiments.studies.sweep.sweep import asking_order


def points(tmp_path: Path, sweep: str, more: str = "strategies: [vanilla]\n") -> Points:
    path = tmp_path / "study.yaml"
    path.write_text(f"{more}sweep:\n{sweep}", encoding="utf-8")
    return find_points(load_sweep(path), tmp_path / "runs")


def test_one_at_a_time_is_the_base_and_each_value_once(tmp_path: Path) -> None:
    found = points(tmp_path, "  factors: {retrieval.k: [1, 5, 20], retrieval.rrf_k: [60, 2]}\n").points
    assert [(one.name, one.label) for one in found] == [
        ("base", "base"),
        ("retrieval.k-1", "retrieval.k=1"),
        ("retrieval.k-20", "retrieval.k=20"),
        ("retrieval.rrf_k-2", "retrieval.rrf_k=2"),
    ]
    assert [dict(one.values) for one in found] == [
        {"retrieval.k": 5, "retrieval.rrf_k": 60},
        {"retrieval.k": 1, "retrieval.rrf_k": 60},
        {"retrieval.k": 20, "retrieval.rrf_k": 60},
        {"retrieval.k": 5, "retrieval.rrf_k": 2},
    ]
    assert [one.config.retrieval.k for one in found] == [5, 1, 20, 5]
    assert [one.config.run_id for one in found] == [one.name for one in found]
    assert [one.name for one in asking_order(found)] == ["retrieval.k-20", "base", "retrieval.rrf_k-2", "retrieval.k-1"]


def test_a_grid_is_every_combination(tmp_path: Path) -> None:
    found = points(tmp_path, "  design: grid\n  factors: {retrieval.k: [1, 2], retrieval.depth: [10, 20]}\n").points
    assert [one.label for one in found] == [
        "retrieval.k=1, retrieval.depth=10",
        "retrieval.k=1, retrieval.depth=20",
        "retrieval.k=2, retrieval.depth=10",
        "retrieval.k=2, retrieval.depth=20",
    ]
    assert len({one.name for one in found}) == 4


def test_a_section_goes_over_that_of_the_config(tmp_path: Path) -> None:
    more = "strategies: [vanilla]\nllm: {max_tokens: 33}\n"
    sweep = "  factors: {llm: [{model: 'fake:'}, {model: 'openai:m', base_url: 'http://127.0.0.1:1/v1'}]}\n"
    found = points(tmp_path, sweep, more).points
    assert [(one.config.llm.model, one.config.llm.max_tokens) for one in found[1:]] == [("fake:", 33), ("openai:m", 33)]
    assert len({one.name for one in found}) == 3
    assert all(set(one.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for one in found)


def test_settings_of_a_strategy_have_their_defaults(tmp_path: Path) -> None:
    more = "strategies: [corrective]\n"
    factor = "strategy_params.corrective.external_results"
    found = points(tmp_path, f"  factors: {{{factor}: [1, 2]}}\n", more).points
    default = found[0].values[factor]
    assert [one.values[factor] for one in found[1:]] == [1, 2]
    assert default > 2
    same = points(tmp_path, f"  factors: {{{factor}: [{default}, 1]}}\n", more).points
    assert [one.name for one in same] == ["base", f"{factor}-1"]  # the default, spelt out, is the base


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ("  factors: {retreival.k: [1, 2]}\n", "unknown setting 'retreival': did you mean 'retrieval'?"),
        ("  factors: {retrieval.kk: [1, 2]}\n", "unknown setting 'retrieval.kk': did you mean 'k'?"),
        ("  factors: {retrieval.k: [5]}\n", "factor 'retrieval.k' has 1 value: list two or more"),
        ("  factors: {retrieval.k: []}\n", "factor 'retrieval.k' has no values"),
        ("  factors: {retrieval.k: 5}\n", "'sweep.factors.retrieval.k' is 5: write a list, as in [5]"),
        ("  factors: {retrieval.k: [3, 3]}\n", "factor 'retrieval.k' lists 3 more than once"),
        ("  factors: {retrieval.k: [3, 3.0]}\n", "more than once, which is the same as 3"),
        ("  factors: {retrieval.k: [0, -1]}\n", "'retrieval.k' is 0"),
        ("  factors: {run_id: [a, b]}\n", "factor 'run_id' is a setting of the sweep as a whole"),
        ("  factors: {llm: [{}, {model: 'fake:'}], llm.model: [a, b]}\n", "factor 'llm' holds the whole section"),
        ("  factor: {retrieval.k: [1, 2]}\n", "unknown setting 'sweep.factor': did you mean 'factors'?"),
        ("  design: all\n  factors: {retrieval.k: [1, 2]}\n", "'sweep.design' is 'all'"),
        ("  factors: {modes: [[dense], [densest]]}\n", "unknown retrieval mode 'densest'"),
        ("  factors: {strategy_params.corrective.uper: [0.1, 0.2]}\n", "did you mean 'upper'?"),
        ("  factors: {strategy_params.corective.upper: [0.1, 0.2]}\n", "did you mean 'corrective'?"),
        ("  factors: {dataset: [world, 'jsonl:/nowhere']}\n", "/nowhere"),
    ],
)
def test_what_is_no_sweep_is_refused(tmp_path: Path, sweep: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        points(tmp_path, sweep)
    assert said in str(caught.value)
    assert not (tmp_path / "runs").exists()


GRID = "  design: grid\n  factors: {retrieval.k: [5, 30], retrieval.depth: [10, 50]}\n"


def test_invalid_combinations_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        points(tmp_path, GRID)
    assert "retrieval.k=30, retrieval.depth=10: depth 10 is smaller than k 30" in str(caught.value)
    found = points(tmp_path, f"{GRID}  skip_invalid: true\n")
    assert [one.label for one in found.points] == [
        "retrieval.k=5, retrieval.depth=10",
        "retrieval.k=5, retrieval.depth=50",
        "retrieval.k=30, retrieval.depth=50",
    ]
    assert [one.split(":")[0] for one in found.skipped] == ["retrieval.k=30, retrieval.depth=10"]


def test_the_same_file_names_the_same_folder_and_another_sweep_another(tmp_path: Path) -> None:
    path = tmp_path / "my study.yaml"
    found = []
    for values in ("[1, 2]", "[1, 2]", "[1, 3]"):
        path.write_text(f"runs_dir: {tmp_path}\nsweep: {{factors: {{retrieval.k: {values}}}}}\n", encoding="utf-8")
        found.append(folder_of(load_sweep(path)).path)
    assert found[0] == found[1] != found[2]
    assert found[0].name.startswith("my-study-")
    path.write_text("run_id: mine\nsweep: {factors: {retrieval.k: [1, 2]}}\n", encoding="utf-8")
    assert folder_of(load_sweep(path)).path == Path("runs/mine")


def test_a_config_without_a_sweep_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text("dataset: world\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="nothing to sweep"):
        load_sweep(path)
