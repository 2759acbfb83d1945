"""A sweep from a config to its folder: what is shared is asked once, and nothing else is shared."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.store import RunStore
from tests.integration.conftest import Arena
from tests.integration.test_run import journal


def sweep_of(study: Path, section: str, more: str = "") -> Path:
    """The study as a sweep of its own, named s1."""
    path = study.with_name("swept.yaml")
    if "hybrid_rerank" in more:  # the index keeps token vectors, by which it reranks without a model of its own
        settings = study.read_text(encoding="utf-8").replace("minilm}", "minilm, multivectors: true}")
        study.write_text(settings, encoding="utf-8")
    path.write_text(f"{study.read_text(encoding='utf-8')}{more}run_id: s1\nsweep:\n{section}", encoding="utf-8")
    return path


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "sweep.csv").read_text(encoding="utf-8"))))


def sources(folder: Path) -> dict[tuple[str, str, str], str]:
    """(point, strategy, mode) -> where the records came from."""
    return {(one["point"], one["strategy"], one["retrieval_mode"]): one["source"] for one in rows(folder)}


def unmarked(records: list[Any]) -> list[Any]:
    return [{key: value for key, value in record.items() if key not in ("timed", "warm_up")} for record in records]


OVER_K = "  factors: {retrieval.k: [1, 2, 3]}\n"
THREE = "strategies: [retrieval_only, vanilla, closed_book]\nmodes: [dense, hybrid, hybrid_rerank]\nretrieval: {k: 3}\n"


def test_over_k_retrieval_is_cut_the_floor_copied_and_models_asked(arena: Arena, study: Path, tmp_path: Path) -> None:
    done = arena("sweep", sweep_of(study, OVER_K, THREE))
    assert done.code == 0, done.err
    folder = tmp_path / "runs" / "s1"
    found = sources(folder)
    for mode in ("dense", "hybrid", "hybrid_rerank"):
        assert found["base", "retrieval_only", mode] == "measured"
        assert found["retrieval.k-1", "retrieval_only", mode] == "cut from base"
        assert found["retrieval.k-2", "vanilla", mode] == "measured"
    assert found["retrieval.k-1", "closed_book", "none"] == "copied from base"
    assert "point 3 of 3: retrieval.k=1" in done.err
    for k in (1, 2):
        alone = arena("run", study, "--set", THREE.splitlines()[0].replace(": ", "=", 1), "--run-id", f"k{k}",
                      "--modes", "dense,hybrid,hybrid_rerank", "--set", f"retrieval.k={k}")  # fmt: skip
        assert alone.code == 0, alone.err
        swept, asked = folder / f"retrieval.k-{k}", tmp_path / "runs" / f"k{k}"
        assert unmarked(journal(swept)) == unmarked(journal(asked))
        both = [RunStore.open(one).manifest() for one in (swept, asked)]
        assert both[0]["fingerprint"] == both[1]["fingerprint"]
        assert both[0]["lines"] == both[1]["lines"]
    assert "A fake model wrote the answers: their figures say nothing about a language model (" in done.out
    assert {"fake_reader" in row["warnings"] for row in rows(folder) if row["llm"]} == {True}
    for row in rows(folder):
        timed = (row["p50_seconds"], row["p95_seconds"], row["n_timed"])
        assert (timed == ("", "", "0")) == row["source"].startswith("cut")
    board = json.loads((folder / "retrieval.k-1" / "leaderboard.json").read_text(encoding="utf-8"))
    cut = [cell["latency_seconds"]["n_measured"] for cell in board["cells"] if cell["strategy"] == "retrieval_only"]
    assert cut == [0, 0, 0]


def test_cells_that_a_factor_does_not_touch_are_copied_and_others_are_not(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    section = "  factors: {retrieval.rrf_k: [60, 2], rerank.threshold: [default, 0.2], llm.temperature: [0.0, 1.0]}\n"
    assert arena("sweep", sweep_of(study, section, THREE)).code == 0
    found = sources(tmp_path / "runs" / "s1")
    copied = {key for key, source in found.items() if source == "copied from base"}
    names = ("retrieval.rrf_k-2", "rerank.threshold-0.2", "llm.temperature-1.0")
    cells = {(strategy, mode) for _, strategy, mode in found}
    changed = {
        names[0]: {one for one in cells if one[1] in ("hybrid", "hybrid_rerank")},
        names[1]: {one for one in cells if one[1] == "hybrid_rerank"},
        names[2]: {one for one in cells if one[0] != "retrieval_only"},
    }
    assert copied == {(name, *cell) for name in names for cell in cells - changed[name]}


def test_what_only_changes_speed_is_asked_again(arena: Arena, study: Path, tmp_path: Path) -> None:
    section = "  factors: {concurrency: [1, 8], question_timeout_seconds: [30, 60]}\n"
    assert arena("sweep", sweep_of(study, section, "strategies: [closed_book]\n")).code == 0
    assert set(sources(tmp_path / "runs" / "s1").values()) == {"measured"}


def test_an_approximate_search_is_asked_at_each_k(arena: Arena, study: Path, tmp_path: Path) -> None:
    more = "strategies: [retrieval_only]\nmodes: [dense]\nindex: {search: hnsw}\n"
    assert arena("sweep", sweep_of(study, OVER_K, more)).code == 0
    assert set(sources(tmp_path / "runs" / "s1").values()) == {"measured"}


def test_verdicts_come_with_the_answers_they_are_on(arena: Arena, study: Path, tmp_path: Path) -> None:
    more = "strategies: [vanilla]\nmodes: [dense]\njudge: {llm: {model: 'fake:'}, metrics: [answer_accuracy]}\n"
    assert arena("sweep", sweep_of(study, "  factors: {rerank.threshold: [default, 0.2]}\n", more)).code == 0
    folder = tmp_path / "runs" / "s1"
    assert set(sources(folder).values()) == {"measured", "copied from base"}
    said = [[one for one in RunStore.open(folder / name).verdicts()] for name in ("base", "rerank.threshold-0.2")]
    assert said[0] == said[1] != []
    accuracy = [(one["answer_accuracy_mean"], one["answer_accuracy_n"]) for one in rows(folder)]
    assert accuracy[0] == accuracy[1]
    assert accuracy[0][0] != ""


def test_a_stopped_sweep_goes_on_and_a_finished_one_is_only_derived(arena: Arena, study: Path, tmp_path: Path) -> None:
    config = sweep_of(study, OVER_K, THREE)
    folder = tmp_path / "runs" / "s1"
    assert arena("sweep", config).code == 0
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".json", ".jsonl", ".csv", ".svg")]
    before = {path: path.read_bytes() for path in files}
    again = arena("sweep", config)
    assert again.code == 0, again.err
    assert "answers" not in again.err
    assert {path: path.read_bytes() for path in files} == before

    half = (folder / "retrieval.k-2" / "records.jsonl").read_bytes().splitlines(keepends=True)[:8]
    (folder / "retrieval.k-2" / "records.jsonl").write_bytes(b"".join(half))
    store = RunStore.open(folder / "retrieval.k-2")
    store.write_manifest(store.manifest() | {"status": "running"})
    shutil.rmtree(folder / "retrieval.k-1")
    for name in ("sweep.csv", "curves.svg"):
        (folder / name).unlink()
    resumed = arena("sweep", config)
    assert resumed.code == 0, resumed.err
    assert set(half) <= set((folder / "retrieval.k-2" / "records.jsonl").read_bytes().splitlines(keepends=True))
    assert len(store.done()) == 7 * 5
    timed = ("p50_seconds", "p95_seconds", "date", "n_timed")
    after = [{key: value for key, value in row.items() if key not in timed} for row in rows(folder)]
    old = list(csv.DictReader(io.StringIO(before[folder / "sweep.csv"].decode())))
    assert after == [{key: value for key, value in row.items() if key not in timed} for row in old]


def test_a_dry_run_says_what_is_shared_and_makes_nothing(arena: Arena, study: Path, tmp_path: Path) -> None:
    config = sweep_of(study, OVER_K, THREE)
    done = arena("sweep", config, "--dry-run", "--json")
    assert done.code == 0, done.err
    assert not (tmp_path / "runs").exists()
    expected = {
        (point["name"], cell["name"]): (cell["source"], cell["calls"])
        for point in json.loads(done.out)["points"]
        for cell in point["cells"]
    }
    assert expected["base", "retrieval_only + dense"] == ("asked", 0)
    assert expected["retrieval.k-1", "retrieval_only + hybrid_rerank"] == ("cut from base", 0)
    assert expected["retrieval.k-1", "closed_book"] == ("copied from base", 0)
    assert expected["retrieval.k-1", "vanilla + dense"] == ("asked", 5)
    text = arena("sweep", config, "--dry-run")
    assert "Nothing was spent" in text.out


def test_curves_have_elbows_and_are_drawn_alike_each_time(arena: Arena, study: Path, tmp_path: Path) -> None:
    done = arena("sweep", sweep_of(study, OVER_K, "strategies: [retrieval_only]\nmodes: [dense]\n"), "--json")
    assert done.code == 0, done.err
    swept = json.loads(done.out)
    recall = next(one for one in swept["curves"] if one["metric"] == "retrieval_recall")
    assert [one["value"] for one in recall["points"]] == [1, 2, 3, 5]
    means = [one["mean"] for one in recall["points"]]
    assert means == sorted(means)
    assert recall["enough"]["value"] <= recall["enough"]["best"]
    verified = arena("verify", tmp_path / "runs" / "s1" / "retrieval.k-1")
    assert verified.code == 0, verified.out
    picture = (tmp_path / "runs" / "s1" / "curves.svg").read_text(encoding="utf-8")
    assert "retrieval.k" in picture


def test_what_holds_something_else_is_left_alone(arena: Arena, study: Path, tmp_path: Path) -> None:
    assert arena("run", study, "--run-id", "s1", "--strategies", "closed_book").code == 0
    done = arena("sweep", sweep_of(study, OVER_K))
    assert done.code == 2
    assert "exists and is no sweep" in done.err


@pytest.mark.parametrize("name", ["sweep_k.yaml", "sweep_chunking.yaml"])
def test_the_bundled_sweeps_are_sweeps(name: str, tmp_path: Path) -> None:
    from importlib.resources import files

    from experiments.studies.sweep.config import find_points, load_sweep

    found = find_points(load_sweep(Path(str(files("experiments") / "configs" / name))), tmp_path)
    assert len(found.points) > 4


def test_a_sweeps_config_is_no_runs_and_says_whose_it_is(arena: Arena, study: Path, tmp_path: Path) -> None:
    config = sweep_of(study, OVER_K)
    done = arena("run", config)
    assert done.code == 2
    assert f"is a sweep's config, many runs and not one: arena sweep {config}" in done.err
    assert "did you mean" not in done.err
