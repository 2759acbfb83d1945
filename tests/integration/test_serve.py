"""`arena serve` as a process of its own, while another process makes a run."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.integration.conftest import Arena
from tests.patience import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).parents[2]
CODE = "from experiments.cli.main import main; import sys; main(sys.argv[1:])"


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def address(server: subprocess.Popen[str]) -> str:
    assert server.stderr is not None
    line = server.stderr.readline()
    found = re.match(r"(http://127\.0\.0\.1:\d+/)  shows the runs in .*; Ctrl-C ends it\n", line)
    assert found is not None, line
    return found[1]


def has(journal: Path, lines: int) -> bool:
    return journal.exists() and journal.read_bytes().count(b"\n") >= lines


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as reply:
        return json.loads(reply.read())


def test_a_run_is_followed_from_its_first_answer_to_its_last(study: Path, tmp_path: Path) -> None:
    script = tmp_path / "slow.yaml"
    script.write_text("latency_seconds: 0.3\n")
    text = study.read_text().replace("'fake:'", f"'fake:{script}'")
    study.write_text(f"{text}strategies: [closed_book, oracle]\nconcurrency: 1\nrun_id: r1\n")
    (tmp_path / "runs").mkdir()
    journal = tmp_path / "runs" / "r1" / "records.jsonl"
    with started("serve", tmp_path / "runs", "--port", "0") as server:
        home = address(server)
        assert get(f"{home}api/runs") == []
        seen: list[tuple[str, int]] = []
        with started("run", study) as run:
            for answers in (1, 3):
                assert wait_until(partial(has, journal, answers), run)
                run.send_signal(signal.SIGSTOP)  # however slow the page is, the run waits for it
                seen += [(one["status"], one["done"]) for one in get(f"{home}api/runs")]
                run.send_signal(signal.SIGCONT)
            _, err = run.communicate(timeout=PATIENCE_SECONDS)
            assert run.returncode == 0, err
        found = get(f"{home}api/runs/r1")
        assert (found["status"], found["done"], found["planned"]) == ("finished", 9, 9)
        assert [status for status, _ in seen] == ["running", "running"]
        assert 1 <= seen[0][1] < seen[1][1] < 9
        board = json.loads((tmp_path / "runs" / "r1" / "leaderboard.json").read_text(encoding="utf-8"))
        assert [cell["figures"]["answer_f1"]["mean"] for cell in found["cells"]] == [
            cell["metrics"]["answer_f1"]["mean"] for cell in board["cells"]
        ]
        server.send_signal(signal.SIGINT)
        out, rest = server.communicate(timeout=PATIENCE_SECONDS)
        assert (server.returncode, out, rest) == (0, "", "stopped; nothing was written\n")


def test_a_port_in_use_ends_with_2_and_names_another(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with started("serve", tmp_path / "runs", "--port", "0") as server:
        port = address(server).rstrip("/").rpartition(":")[2]
        refused = arena("serve", tmp_path / "runs", "--port", port)
        assert refused.code == 2
        assert re.search(rf"port {port} of 127\.0\.0\.1 is in use: take --port \d+", refused.err)
