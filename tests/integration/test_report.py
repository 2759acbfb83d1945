from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.store import RunStore
from tests.integration.conftest import Arena


@pytest.fixture
def finished(arena: Arena, study: Path, tmp_path: Path) -> Path:
    """A run that was told to write no report."""
    asked = ("--strategies", "vanilla,corrective", "--modes", "dense", "--run-id", "r1", "--no-report")
    assert arena("run", study, *asked).code == 0
    return tmp_path / "runs" / "r1"


def test_a_run_ends_with_its_report(arena: Arena, study: Path, tmp_path: Path) -> None:
    done = arena("run", study, "--strategies", "vanilla", "--modes", "dense", "--run-id", "r1")
    page = tmp_path / "runs" / "r1" / "report.html"
    assert done.code == 0
    assert page.exists()
    assert f"report       {page}" in done.out


def test_the_leaderboard_is_printed_before_the_page_is_written(
    arena: Arena, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(store: RunStore, reporter: object) -> None:
        raise ConfigError("stopped while the page was written")

    monkeypatch.setattr("experiments.views.report.report_of", stopped)
    for how, said in (((), "vanilla"), (("--json",), '"cells"')):
        done = arena("run", study, "--strategies", "vanilla", "--modes", "dense", *how)
        assert done.code == 2
        assert said in done.out


def test_a_report_can_be_had_later_and_elsewhere(arena: Arena, finished: Path, tmp_path: Path) -> None:
    assert not (finished / "report.html").exists()
    there = tmp_path / "page.html"
    done = arena("report", finished, "--out", there)
    assert (done.code, done.out.strip()) == (0, str(there))
    assert not (finished / "report.html").exists()
    assert arena("report", finished).out.strip() == str(finished / "report.html")
    assert (finished / "report.html").read_bytes() == there.read_bytes()


def test_no_run_is_an_error_that_says_so(arena: Arena, tmp_path: Path) -> None:
    done = arena("report", tmp_path)
    assert done.code == 2
    assert "a run folder holds manifest.json" in done.err
    assert "Traceback" not in done.err
