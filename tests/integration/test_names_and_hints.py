"""What stands in the way of our names is seen, what is installed in vain is named, and hints apply where they stand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from langgraph.graph import END, START, StateGraph

from arena.datasets import PLUGIN_GROUP
from arena.errors import ConfigError, StrategyError
from arena.types import Task
from experiments.execution.process import GROUPS, shadows, unknown_groups
from strategies import ENTRY_POINTS
from strategies.base import MOST_STEPS, GraphStrategy
from tests.indexes import build_index
from tests.integration.conftest import Arena
from tests.letter_embedder import LetterEmbedder
from tests.patience import PATIENCE_SECONDS
from tests.samples import DOCUMENTS

ROOT = Path(__file__).parents[2]


def test_the_version_is_said(arena: Arena) -> None:
    assert arena("--version").out == f"arena {version('rag-strategy-arena')}\n"


def test_a_folder_with_our_names_is_found(tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strategies").mkdir()
    assert shadows(tmp_path) == []  # no package: Python goes on to ours
    (tmp_path / "strategies" / "__init__.py").touch()
    (tmp_path / "experiments.py").touch()
    found = shadows(tmp_path)
    assert [one.subject for one in found] == ["package strategies", "package experiments"]
    assert not any(one.sound for one in found)
    assert shadows(ROOT) == []
    monkeypatch.chdir(tmp_path)
    done = arena("doctor")
    assert done.code == 1
    assert f"{str(tmp_path / 'strategies')!r} hides our package" in done.out


def test_unknown_groups_of_plug_ins_are_named() -> None:
    assert GROUPS == (PLUGIN_GROUP, ENTRY_POINTS)
    assert unknown_groups([*GROUPS, "console_scripts", "arenas.x"]) == []
    (said,) = unknown_groups(["arena.strategy", *GROUPS])
    assert "'arena.strategy', and there is no such group: known are arena.datasets, arena.strategies" in said


def test_a_run_warns_of_them(arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site" / "odd-1.0.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (site / "entry_points.txt").write_text("[arena.rerankers]\nmine = odd:MINE\n")
    monkeypatch.syspath_prepend(site.parent)
    done = arena("run", study, "--strategies", "closed_book", "--run-id", "r")
    assert done.code == 0, done.err
    assert "plug-ins in 'arena.rerankers', and there is no such group" in done.err
    # the hints of this run: own data, so none about own data; the fake model, so one about a model
    assert "your data" not in done.out
    assert "your model" in done.out
    assert "make ui" not in done.out


def test_a_graph_without_an_exit_fails_in_words() -> None:
    graph: Any = StateGraph(dict)
    graph.add_node("again", lambda state: state)
    graph.add_edge(START, "again")
    graph.add_conditional_edges("again", lambda state: "again", {"again": "again", "end": END})
    strategy: Any = GraphStrategy(graph.compile())
    with pytest.raises(StrategyError, match=f"took {MOST_STEPS} steps and did not end: give the loop in it an exit"):
        anyio.run(strategy.attempt, Task("Who?", "short"), None)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_an_index_that_cannot_fit_is_refused_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(10**9, 10**9, 2_000_000))
    with pytest.raises(ConfigError, match=r"it takes 150 MB at least, and 2 MB are free; the disk is full: make room"):
        build_index(DOCUMENTS, LetterEmbedder(), tmp_path / "index")
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_closed_terminal_ends_any_command_with_a_message(tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "never")
    command = [sys.executable, "-c", "from experiments.cli.main import main; print('up', flush=True); main()"]
    with subprocess.Popen(
        [*command, "datasets", "info", f"musique:{tmp_path / 'never'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.stdout.readline()  # what is known without the data: the command waits for them now
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2
    assert err.endswith("arena: stopped; what was finished is kept\n")


def test_too_little_memory_is_said_in_words(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.execution import process as doctor

    def broken() -> list[Any]:
        raise ImportError("libopenblas.so: failed to map segment from shared object")

    monkeypatch.setattr(doctor, "examine", broken)
    done = arena("doctor")
    assert done.code == 2
    assert done.err == (
        "arena: this machine has too little memory left: free some, or lower batch sizes and concurrency\n"
    )


def test_a_resumed_folder_runs_no_code_unasked(arena: Arena, study: Path, tmp_path: Path) -> None:
    tool = "tests.unit.experiments.search_tools:two_pages"
    study.write_text(study.read_text() + f"external: {{tool: '{tool}'}}\nstrategies: ['closed_book']\n")
    assert arena("run", study, "--run-id", "r").code == 0
    resume = ["run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs"]
    refused = arena(*resume)
    assert refused.code == 2
    assert f"--set external.tool={tool}" in refused.err
    assert arena(*resume, "--set", f"external.tool={tool}").code == 0


@pytest.mark.parametrize("part", ["embedding", "rerank"])
def test_a_resumed_folder_opens_no_model_with_code_of_its_own_unasked(
    arena: Arena, study: Path, tmp_path: Path, part: str
) -> None:
    assert arena("run", study, "--strategies", "closed_book", "--run-id", "r").code == 0
    manifest = tmp_path / "runs" / "r" / "manifest.json"
    said = json.loads(manifest.read_text())
    said["config"][part]["trust_remote_code"] = True
    manifest.write_text(json.dumps(said))
    resume = ["run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs"]
    refused = arena(*resume)
    assert (refused.code, f"--set {part}.trust_remote_code=true" in refused.err) == (2, True), refused.err
    asked = arena(*resume, "--set", f"{part}.trust_remote_code=true")
    assert "say that you trust it" not in asked.err


def test_a_judge_lets_no_embedder_of_a_run_run_code(arena: Arena, study: Path, tmp_path: Path) -> None:
    assert arena("run", study, "--strategies", "closed_book", "--run-id", "r").code == 0
    manifest = tmp_path / "runs" / "r" / "manifest.json"
    said = json.loads(manifest.read_text())
    said["config"]["embedding"]["trust_remote_code"] = True
    manifest.write_text(json.dumps(said))
    judge = ["judge", tmp_path / "runs" / "r", "--judge", "fake:", "--metrics"]
    refused = arena(*judge, "answer_relevancy")
    assert (refused.code, "--set embedding.trust_remote_code=true" in refused.err) == (2, True), refused.err
    assert arena(*judge, "answer_accuracy").code == 0


def test_a_second_ctrl_c_at_the_exit_prints_no_traceback() -> None:
    code = (
        "import atexit, os, signal, time\n"
        "def late():\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0)\n"
        "atexit.register(late)\n"
        "from experiments.cli.main import main\nmain()\n"
    )
    command = [sys.executable, "-c", code, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE_SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bge-m3", "/tmp/x.py", "/nowhere/m.gguf"])
@pytest.mark.parametrize("role", [["--llm"], ["--llm", "fake:", "--judge"]])
def test_a_dry_run_refuses_a_local_model_that_cannot_be(arena: Arena, study: Path, name: str, role: list[str]) -> None:
    done = arena("run", study, "--strategies", "closed_book", *role, f"local:{name}", "--dry-run")
    assert done.code == 2
    assert ".gguf" in done.err
    assert name in done.err


def test_own_data_stay_named_in_what_to_type_next(arena: Arena, study: Path, jsonl_folder: Path) -> None:
    done = arena("run", study, "--strategies", "closed_book")
    assert f"arena run --dataset jsonl:{jsonl_folder} --llm openai:NAME" in done.out
