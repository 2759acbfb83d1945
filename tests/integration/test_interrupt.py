"""Stopped from outside: by Ctrl-C, by SIGTERM, by a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.journal import read
from tests.integration.conftest import Arena

ROOT = Path(__file__).parents[2]


@pytest.fixture
def slow_study(study: Path, tmp_path: Path) -> Path:
    """Every call takes half a second, one question at a time."""
    script = tmp_path / "slow.yaml"
    script.write_text("latency_seconds: 0.5\n")
    text = study.read_text().replace("'fake:'", f"'fake:{script}'")
    study.write_text(f"{text}strategies: [closed_book, oracle]\nconcurrency: 1\nrun_id: r1\n")
    return study


def stop(study: Path, folder: Path, how: signal.Signals, *, hears_ctrl_c: bool = True) -> tuple[int, str]:
    """Start a run in a process of its own, send it a signal once two records are kept, and wait for its end.

    Whether it `hears_ctrl_c` is said here, because it would else depend on how these tests were started.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler if hears_ctrl_c else signal.SIG_IGN)
    try:
        return _stop(study, folder, how)
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(study: Path, folder: Path, how: signal.Signals) -> tuple[int, str]:
    code = "from experiments.cli import main; import sys; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "run", str(study)]
    process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stderr=subprocess.PIPE, text=True)
    journal = folder / "records.jsonl"
    deadline = time.monotonic() + 90
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= 2:
            process.send_signal(how)
            break
        time.sleep(0.02)
    _, err = process.communicate(timeout=30)
    return process.returncode, err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_is_done_is_kept_and_how_to_continue_is_said(
    arena: Arena, slow_study: Path, tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "runs" / "r1"
    code, err = stop(slow_study, folder, how)
    assert code == 2, err
    assert "Traceback" not in err
    assert "arena run --resume --run-id r1" in err
    kept = len(list(read(folder / "records.jsonl")))
    assert 2 <= kept < 9
    assert json.loads((folder / "manifest.json").read_text())["status"] == "stopped"
    assert arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs").code == 0
    assert len(list(read(folder / "records.jsonl"))) == 9


def test_sigterm_is_heard_where_ctrl_c_is_ignored(slow_study: Path, tmp_path: Path) -> None:
    """As in a background job of a script."""
    code, err = stop(slow_study, tmp_path / "runs" / "r1", signal.SIGTERM, hears_ctrl_c=False)
    assert code == 2, err
    assert "arena run --resume --run-id r1" in err


def test_a_kill_loses_at_most_what_was_in_flight(arena: Arena, slow_study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1"
    code, _ = stop(slow_study, folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    kept = [(entry.record.cell.key, entry.record.question_id) for entry in read(folder / "records.jsonl")]
    assert len(kept) >= 2
    assert arena("run", "--resume", "--runs-dir", tmp_path / "runs").code == 0
    records = [(entry.record.cell.key, entry.record.question_id) for entry in read(folder / "records.jsonl")]
    assert len(records) == len(set(records)) == 9
    assert set(kept) <= set(records)
