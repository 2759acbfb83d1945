"""Stopped from outside: by Ctrl-C, by SIGTERM, by a closed terminal, by a kill."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store.journal import RECORD_LINES, entries
from tests.integration.conftest import Arena
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.warm_processes import WarmProcess

ROOT = Path(__file__).parents[2]
AT_ONCE = ("--concurrency", "9")
"""How the rest of a slow run is asked, once it has been stopped."""


@pytest.fixture
def slow_study(study: Path, tmp_path: Path) -> Path:
    """Every call takes half a second, one question at a time."""
    script = tmp_path / "slow.yaml"
    script.write_text("latency_seconds: 0.5\n")
    text = study.read_text().replace("'fake:'", f"'fake:{script}'")
    study.write_text(f"{text}strategies: [closed_book, oracle]\nconcurrency: 1\nrun_id: r1\n")
    return study


def stop(study: Path, folder: Path, how: signal.Signals, *, hears_ctrl_c: bool = True) -> tuple[int, str]:
    """Start a run in a process of its own, send it a signal once two records are kept, and wait for its end."""
    journal = folder / "records.jsonl"
    with WarmProcess(["run", str(study)], os.environ, hears_ctrl_c=hears_ctrl_c) as process:
        if wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 2, process):
            process.send_signal(how)
        return process.end()


@pytest.fixture(autouse=True)
def _hears_hang_ups() -> Iterator[None]:
    """Also where these tests were started by nohup, which has its children ignore them."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_done_is_kept_and_how_to_continue_is_said(
    arena: Arena, slow_study: Path, tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "runs" / "r1"
    code, err = stop(slow_study, folder, how)
    assert code == 2, err
    assert "Traceback" not in err
    assert "arena run --resume --run-id r1" in err
    kept = len(list(entries(folder / "records.jsonl", RECORD_LINES)))
    assert 2 <= kept < 9
    assert json.loads((folder / "manifest.json").read_text())["status"] == "stopped"
    assert arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs", *AT_ONCE).code == 0
    assert len(list(entries(folder / "records.jsonl", RECORD_LINES))) == 9


def test_a_closed_terminal_stops_the_run_where_it_is(slow_study: Path, tmp_path: Path) -> None:
    """The hang-up comes with a terminal that takes no more output."""
    folder = tmp_path / "runs" / "r1"
    terminal, side = pty.openpty()
    code = "from experiments.cli.main import main; import sys; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", str(slow_study)],
        cwd=ROOT,
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(side)
    shown = _read_until_two_records(terminal, process, folder / "records.jsonl")
    os.close(terminal)
    process.wait(timeout=PATIENCE_SECONDS)
    assert b"answers: " in shown
    assert b"closed_book" in shown
    assert 2 <= len(list(entries(folder / "records.jsonl", RECORD_LINES))) < 9
    assert json.loads((folder / "manifest.json").read_text())["status"] == "stopped"


def _take_terminal() -> None:
    """Make the standard input this session's terminal, whose closing the kernel then tells it of."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read_until_two_records(terminal: int, process: subprocess.Popen[bytes], journal: Path) -> bytes:
    shown = bytearray()

    def two_records() -> bool:
        ready, _, _ = select.select([terminal], [], [], 0.05)
        if ready:
            shown.extend(os.read(terminal, 65_536))
        return journal.exists() and journal.read_bytes().count(b"\n") >= 2

    wait_until(two_records, process)
    return bytes(shown)


def test_a_hang_up_that_nohup_ignores_stays_ignored(arena: Arena, study: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        done = arena("run", study, "--run-id", "r1", "--strategies", "closed_book")
        assert done.code == 0, done.err
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_sigterm_is_heard_where_ctrl_c_is_ignored(slow_study: Path, tmp_path: Path) -> None:
    """As in a background job of a script."""
    code, err = stop(slow_study, tmp_path / "runs" / "r1", signal.SIGTERM, hears_ctrl_c=False)
    assert code == 2, err
    assert "arena run --resume --run-id r1" in err


def test_a_kill_loses_at_most_what_was_in_flight(arena: Arena, slow_study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1"
    code, _ = stop(slow_study, folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    kept = [(record.cell.key, record.question_id) for record in entries(folder / "records.jsonl", RECORD_LINES)]
    assert len(kept) >= 2
    assert arena("run", "--resume", "--runs-dir", tmp_path / "runs", *AT_ONCE).code == 0
    records = [(record.cell.key, record.question_id) for record in entries(folder / "records.jsonl", RECORD_LINES)]
    assert len(records) == len(set(records)) == 9
    assert set(kept) <= set(records)
