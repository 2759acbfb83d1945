"""A model server that is wrong in every way we know of, and the libraries that would report elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.store.journal import RECORD_LINES, entries
from arena.types import MOST_COUNTED, RunRecord
from tests.integration.conftest import Arena
from tests.unit.llm.chat_server import Play, completion, failure, serving
from tests.unit.llm.test_server_quirks import LIKE_REPLIES, NO_REPLIES, USAGE, spelled

ROOT = Path(__file__).parents[2]
MAIN = "from experiments.cli.main import main; main()"
COUNTS = (20.5, -1, 10**25, 10**5000, "12", True, float("nan"), [1], {"a": 1})
ODD = [
    *(play for play, _ in NO_REPLIES.values()),
    *LIKE_REPLIES.values(),
    *(
        Play(completion("Oster", dict.fromkeys(USAGE, "ODD")).body.replace(b'"ODD"', spelled(count)))
        for count in COUNTS
    ),
    failure(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT"}),
    failure(503),
    Play(reset=True),
]
"""Every quirk, each in its turn."""


class BadServer:
    """Three requests in ten, by a hash of their number, meet the next quirk; the template knows two roles in turn."""

    def __init__(self) -> None:
        self.heard = 0
        self.odd = 0

    def __call__(self, body: dict[str, Any]) -> Play:
        roles = [turn["role"] for turn in body["messages"]]
        if "system" in roles:
            return failure(400, "System role not supported")
        if any(one == two for one, two in pairwise(roles)):
            return failure(400, "Conversation roles must alternate user/assistant/user/assistant/...")
        self.heard += 1
        if hashlib.sha256(str(self.heard).encode()).digest()[0] < 0.3 * 256:
            self.odd += 1
            return ODD[self.odd % len(ODD)]
        return completion("The source [1].", USAGE)


def records(folder: Path) -> list[RunRecord]:
    return list(entries(folder / "records.jsonl", RECORD_LINES))


def test_a_run_over_a_server_with_every_quirk_ends_whole_and_is_read_by_every_command(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.llm.client.FIRST_BACKOFF_SECONDS", 0.001)
    react = BadServer()
    with serving(reaction=react) as server:
        llm = f"{{model: m, base_url: '{server.base_url}', max_attempts: 12}}"
        study.write_text(
            study.read_text().replace("llm: {model: 'fake:'}", f"llm: {llm}")
            + "strategies: [closed_book, vanilla, corrective, ircot]\nmodes: [dense, hybrid]\nconcurrency: 1\n"
        )
        folder = tmp_path / "runs" / "odd"
        done = arena("run", study, "--run-id", "odd")
        assert done.code == 0, done.err
        assert react.odd >= len(ODD)
        found = records(folder)
        assert len({(one.cell.key, one.question_id) for one in found}) == len(found) == 35
        assert {one.outcome for one in found} <= {"answered", "abstained"}
        for command in (("score",), ("verify",), ("export", "--out", tmp_path / "out"), ("show",)):
            read_by = arena(command[0], folder, *command[1:])
            assert read_by.code == 0, (command, read_by.err)
        heard = react.heard
        again = arena("run", "--resume", "--run-id", "odd", "--runs-dir", tmp_path / "runs")
        assert again.code == 0, again.err
        assert react.heard == heard
        # the cache that this run filled poisons no other
        assert arena("run", study, "--run-id", "second").code == 0
        assert react.heard == heard
    for attempt in (attempt for record in found for call in record.calls for attempt in call.attempts):
        for count in (
            attempt.input_tokens,
            attempt.output_tokens,
            attempt.cached_input_tokens,
            attempt.reasoning_tokens,
        ):
            assert count is None or (type(count) is int and 0 <= count <= MOST_COUNTED)


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port on loopback and the first bytes of every connection to it."""
    heard: list[bytes] = []

    def listen() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                heard.append(connection.recv(2000))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.timeout(300)
def test_no_library_reports_or_traces_anything(study: Path, tmp_path: Path) -> None:
    """Tracing is asked for by the shell in each of its names, and every road out of the machine leads to a listener."""
    study.write_text(
        study.read_text().replace("mlflow: false", "mlflow: true")
        + "strategies: [vanilla, corrective]\nmodes: [dense]\njudge: {llm: {model: 'fake:'}}\n"
    )
    with listener() as (port, heard):
        here = f"http://127.0.0.1:{port}"
        environment = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
        for prefix in ("LANGSMITH", "LANGCHAIN"):
            environment |= {f"{prefix}_TRACING": "true", f"{prefix}_TRACING_V2": "true", f"{prefix}_API_KEY": "k"}
            environment |= {f"{prefix}_ENDPOINT": here, f"{prefix}_PROJECT": "p"}
        environment |= {"HTTP_PROXY": here, "HTTPS_PROXY": here, "ALL_PROXY": here, "PYTHONPATH": str(ROOT)}
        environment |= {"HF_ENDPOINT": here, "ARENA_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "run", str(study), "--run-id", "quiet"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / "runs/quiet/manifest.json").read_text())["status"] == "finished"
    assert heard == []
