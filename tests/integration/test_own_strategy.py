"""A strategy of one's own: the example package, installed beside the arena and run by it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store.journal import RECORD_LINES, entries
from tests.integration.conftest import Arena
from tests.patience import PATIENCE_SECONDS
from tests.wheel import build_wheel

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "own_strategy"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed."""
    folder = tmp_path_factory.mktemp("site")
    wheel = build_wheel(PROJECT, tmp_path_factory.mktemp("wheel"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "--target", folder, wheel], check=True, timeout=PATIENCE_SECONDS)
    return folder


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """No test leaves the example imported."""
    yield
    sys.modules.pop("arena_hyde", None)


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process sees the example too."""
    monkeypatch.syspath_prepend(site)


def test_it_is_about_forty_lines() -> None:
    lines = (PROJECT / "arena_hyde.py").read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 45


@pytest.mark.usefixtures("installed")
def test_it_is_listed_and_shown(arena: Arena) -> None:
    listed = json.loads(arena("strategies", "list", "--json").out)["strategies"]
    assert [one["summary"] for one in listed if one["name"] == "hyde"] == [
        "search with a made-up passage, answer from what it finds"
    ]
    shown = arena("strategies", "show", "hyde").out
    assert "hyde:words=...   whole number from 10 to 200; default 60" in shown
    assert "imagine --> retrieve" in shown


@pytest.mark.usefixtures("installed")
def test_it_competes_under_its_settings(arena: Arena, study: Path, tmp_path: Path) -> None:
    competing = ("--strategies", "vanilla,hyde,hyde:words=80", "--modes", "dense")
    done = arena("run", study, *competing, "--limit", "3", "--run-id", "r1")
    assert done.code == 0, done.err
    records = list(entries(tmp_path / "runs" / "r1" / "records.jsonl", RECORD_LINES))
    assert len(records) == 9
    asked = {record.cell.params.get("words"): record for record in records if record.cell.strategy == "hyde"}
    assert set(asked) == {60, 80}
    for record in asked.values():
        assert [call.role for call in record.calls] == ["imagine", "generate"]
        assert record.failure is None


def test_an_edited_prompt_is_another_experiment(
    arena: Arena, site: Path, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = shutil.copytree(site, tmp_path / "edited")
    module = edited / "arena_hyde.py"
    module.write_text(module.read_text(encoding="utf-8").replace("encyclopedia", "handbook"), encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    done = arena("run", study, "--strategies", "hyde", "--modes", "dense", "--run-id", "r1")
    assert done.code == 0, done.err
    del sys.modules["arena_hyde"]
    monkeypatch.syspath_prepend(edited)
    done = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
    assert done.code == 2
    assert re.search(r"these settings differ: .*contestants\.hyde\.prompts: '\w{16}' -> '\w{16}'\.", done.err)


@pytest.mark.usefixtures("installed")
def test_a_setting_out_of_range_is_named(arena: Arena) -> None:
    done = arena("run", "--strategies", "hyde:words=5", "--dataset", "world", "--llm", "fake:")
    assert done.code == 2
    assert "strategy 'hyde:words=5': 'words' is 5" in done.err
