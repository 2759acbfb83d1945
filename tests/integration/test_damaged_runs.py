"""Run folders whose files are damaged or hostile: each command says so with exit code 2, and the neighbours go on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Arena
from tests.unit.experiments.views.serve.served import client

Damage = Callable[[Path], None]
DEEP = '{"a":' * 200_000 + "1" + "}" * 200_000


def text_of(name: str, text: str) -> Damage:
    def change(run: Path) -> None:
        (run / name).write_text(text)

    return change


def a_pipe(name: str) -> Damage:
    def change(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return change


def figure(value: str) -> Damage:
    """A mean of the leaderboard becomes `value`, as it stands."""

    def change(run: Path) -> None:
        board = json.loads((run / "leaderboard.json").read_text())
        board["cells"][0]["metrics"]["retrieval_recall"]["mean"] = "HERE"
        (run / "leaderboard.json").write_text(json.dumps(board).replace('"HERE"', value))

    return change


def part(name: str, value: str) -> Damage:
    """A part of the manifest becomes `value`."""

    def change(run: Path) -> None:
        manifest = json.loads((run / "manifest.json").read_text())
        manifest[name] = json.loads(value)
        (run / "manifest.json").write_text(json.dumps(manifest))

    return change


DAMAGES: dict[str, Damage] = {
    "deep manifest": text_of("manifest.json", DEEP),
    "manifest of 5,000 digits": text_of("manifest.json", "9" * 5_000),
    "manifest with half a pair": text_of("manifest.json", '{"status": "\\ud800"}'),
    "deep config": part("config", '{"llm": ' + "[" * 300 + "]" * 300 + "}"),
    "deep plan": text_of("plan.json", DEEP),
    "pipe for a plan": a_pipe("plan.json"),
    "pipe for a journal": a_pipe("records.jsonl"),
    "pipe for a leaderboard": a_pipe("leaderboard.json"),
    "pipe for labels": a_pipe("labels.jsonl"),
    "deep leaderboard": text_of("leaderboard.json", DEEP),
    "infinite figure": figure("Infinity"),
    "figure of 400 digits": figure("1" + "0" * 400),
    "figure no double holds": figure("1e999"),
}
COMMANDS = (["show"], ["report"], ["verify"], ["score"], ["inspect", "q1"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with one finished run over data of its own."""
    from arena.datasets.jsonl import write_jsonl
    from experiments.cli.main import main
    from tests.samples import small_dataset

    root = tmp_path_factory.mktemp("damaged")
    write_jsonl(small_dataset(), root / "data")
    config = f"dataset: jsonl:{root / 'data'}\nllm: {{model: 'fake:'}}\nruns_dir: {root / 'runs'}\nmlflow: false\n"
    (root / "study.yaml").write_text(f"{config}strategies: [closed_book, oracle]\n")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(root / "study.yaml"), "--run-id", "sound"])
    assert not ended.value.code
    return root


@pytest.fixture
def runs(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, with the run once more as `hurt`."""
    shutil.copytree(finished / "runs", tmp_path / "runs")
    shutil.copytree(finished / "runs" / "sound", tmp_path / "runs" / "hurt")
    return tmp_path / "runs"


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_command_ends_with_a_message(arena: Arena, runs: Path, damage: str) -> None:
    DAMAGES[damage](runs / "hurt")
    refused = 0
    for command, *more in COMMANDS:
        done = arena(command, runs / "hurt", *more)
        assert done.code in (0, 1, 2), (command, done.err)
        assert "Traceback" not in done.err
        refused += done.code == 2 or "differs" in done.out
    assert refused


@pytest.mark.parametrize("damage", DAMAGES)
def test_serve_goes_on_with_the_others(runs: Path, damage: str) -> None:
    DAMAGES[damage](runs / "hurt")
    asking = client(runs)
    found = {run["run_id"]: run["status"] for run in asking.get("/api/runs").json()}
    assert found["sound"] == "finished"
    assert found["hurt"] in ("damaged", "finished")
    for path in ("/", "/runs/sound", "/runs/hurt", "/runs/hurt/report", "/api/runs/hurt"):
        assert asking.get(path).status_code in (200, 422), path


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_new_run_and_a_continued_one_do_not_mind_a_damaged_neighbour(
    arena: Arena, finished: Path, runs: Path, damage: str
) -> None:
    DAMAGES[damage](runs / "hurt")
    config = str(finished / "study.yaml")
    dry = arena("run", config, "--runs-dir", runs, "--dry-run")
    assert dry.code == 0, dry.err
    part("status", '"stopped"')(runs / "sound")
    resumed = arena("run", "--resume", "--runs-dir", runs, "--no-report", "--run-id", "sound")
    assert resumed.code == 0, resumed.err


def test_the_latest_unfinished_run_is_found_beside_damaged_ones(arena: Arena, runs: Path) -> None:
    for number, damage in enumerate(("deep manifest", "manifest of 5,000 digits")):
        shutil.copytree(runs / "hurt", runs / f"hurt{number}")
        DAMAGES[damage](runs / f"hurt{number}")
    a_pipe("manifest.json")(runs / "hurt")
    part("status", '"stopped"')(runs / "sound")
    done = arena("run", "--resume", "--runs-dir", runs, "--no-report")
    assert done.code == 0, done.err
    assert "continuing sound" in done.err


def test_a_folder_name_that_is_no_utf_8_is_named(arena: Arena, runs: Path) -> None:
    os.rename(runs / "hurt", os.fsencode(runs) + b"/caf\xe9")
    asking = client(runs)
    found = {run["run_id"]: run for run in asking.get("/api/runs").json()}
    assert found.keys() == {"sound", "caf\\xe9"}
    assert "caf\\xe9" in asking.get("/").text
    assert asking.get("/runs/sound").status_code == 200
    assert asking.get("/runs/caf%5Cxe9").status_code == 200
    done = arena("run", "--resume", "--runs-dir", runs, "--no-report", "--run-id", "sound")
    assert done.code == 0, done.err
