"""`arena serve` as a process of its own, while another process makes a run."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.integration.conftest import Arena

ROOT = Path(__file__).parents[2]
CODE = "from experiments.cli import main; import sys; main(sys.argv[1:])"
PATIENCE_SECONDS = 60.0


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


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as reply:
        return json.loads(reply.read())


def test_a_run_is_followed_from_its_first_answer_to_its_last(study: Path, tmp_path: Path) -> None:
    script = tmp_path / "slow.yaml"
    script.write_text("latency_seconds: 0.3\n")
    text = study.read_text().replace("'fake:'", f"'fake:{script}'")
    study.write_text(f"{text}strategies: [closed_book, oracle]\nconcurrency: 1\nrun_id: r1\n")
    (tmp_path / "runs").mkdir()
    with started("serve", tmp_path / "runs", "--port", "0") as server:
        home = address(server)
        assert get(f"{home}api/runs") == []
        seen: list[tuple[str, int]] = []
        with started("run", study) as run:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while run.poll() is None:
                assert time.monotonic() < deadline
                seen += [(one["status"], one["done"]) for one in get(f"{home}api/runs")]
                time.sleep(0.1)
            assert run.returncode == 0, run.communicate()[1]
        found = get(f"{home}api/runs/r1")
        assert (found["status"], found["done"], found["planned"]) == ("finished", 9, 9)
        running = [done for status, done in seen if status == "running"]
        assert running == sorted(running)
        assert len({done for done in running if 0 < done < 9}) >= 2
        assert {status for status, _ in seen} <= {"running", "finished"}
        board = json.loads((tmp_path / "runs" / "r1" / "leaderboard.json").read_text(encoding="utf-8"))
        assert [cell["figures"]["answer_f1"]["mean"] for cell in found["cells"]] == [
            cell["metrics"]["answer_f1"]["mean"] for cell in board["cells"]
        ]
        server.send_signal(signal.SIGINT)
        out, rest = server.communicate(timeout=20)
        assert (server.returncode, out, rest) == (0, "", "stopped; nothing was written\n")


def test_a_port_in_use_ends_with_2_and_names_another(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with started("serve", tmp_path / "runs", "--port", "0") as server:
        port = address(server).rstrip("/").rpartition(":")[2]
        refused = arena("serve", tmp_path / "runs", "--port", port)
        assert refused.code == 2
        assert re.search(rf"port {port} of 127\.0\.0\.1 is in use: take --port \d+", refused.err)
