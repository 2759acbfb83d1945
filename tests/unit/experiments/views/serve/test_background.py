"""What takes long keeps nobody waiting: builders and looks that are held back by an event, and no clock."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from starlette.testclient import TestClient

from arena.datasets import load_dataset
from arena.store import RunStore
from experiments.views.serve.app import build_app
from experiments.views.serve.pages import Background
from tests.samples import answered
from tests.unit.experiments.made_runs import made_run
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run

CLIENTS = 50
LONG_SECONDS = 60.0


class OutageBuffer:
    """A builder of reports that builds nothing before it is let."""

    def __init__(self) -> None:
        self.go = Event()
        self.made: list[str] = []

    def __call__(self, store: RunStore) -> str:
        self.made.append(store.run_id)
        assert self.go.wait(LONG_SECONDS)
        return f"<html>report of {store.run_id}</html>"


@pytest.fixture
def builder() -> Iterator[OutageBuffer]:
    held = OutageBuffer()
    yield held
    held.go.set()


def test_fifty_readers_of_a_slow_report_keep_no_other_page_waiting(
    tmp_path: Path, jsonl_folder: Path, builder: OutageBuffer
) -> None:
    reviewed_run(tmp_path / "slow", jsonl_folder)
    reviewed_run(tmp_path / "other", jsonl_folder)
    app = build_app(tmp_path, report_of=builder, patience_seconds=0.0)
    with TestClient(app, base_url="http://127.0.0.1") as asking, ThreadPoolExecutor(CLIENTS) as readers:
        replies = list(readers.map(lambda _: asking.get("/runs/slow"), range(CLIENTS)))
        assert {reply.status_code for reply in replies} == {202}
        assert "is being made" in replies[0].text
        assert 'http-equiv="refresh"' in replies[0].text
        assert replies[0].headers["content-security-policy"].startswith("default-src 'none'")
        assert {one["run_id"] for one in asking.get("/api/runs").json()} == {"slow", "other"}
        assert asking.get("/").status_code == 200
        assert builder.made == ["slow"]
        builder.go.set()
        while (reply := asking.get("/runs/slow")).status_code == 202:
            pass
        assert reply.text == "<html>report of slow</html>"
        assert builder.made == ["slow"]


def test_a_first_look_that_takes_long_keeps_no_other_page_waiting(tmp_path: Path, jsonl_folder: Path) -> None:
    """The data of the run come through a pipe that nobody has written into yet."""
    import os

    spec = f"jsonl:{jsonl_folder}"
    made_run(tmp_path / "runs" / "open", spec, load_dataset(spec), [answered("q1", "x", ("d1",))], status="stopped")
    reviewed_run(tmp_path / "runs" / "done", jsonl_folder)
    questions = jsonl_folder / "questions.jsonl"
    text = questions.read_bytes()
    questions.unlink()
    os.mkfifo(questions)
    with TestClient(build_app(tmp_path / "runs", patience_seconds=0.0), base_url="http://127.0.0.1") as asking:
        found = {one["run_id"]: one for one in asking.get("/api/runs").json()}
        assert (found["open"]["status"], found["open"]["cells"], found["done"]["done"]) == ("stopped", [], 8)
        assert "being read" in found["open"]["problem"]
        assert "being read" in asking.get("/runs/open").text
        assert 'http-equiv="refresh"' in asking.get("/").text
        with questions.open("wb") as pipe:
            pipe.write(text)
        while not (one := asking.get("/api/runs/open").json())["cells"]:
            pass
        assert one["cells"][0]["done"] == 1


def test_what_fails_says_so_to_whoever_asks_and_is_tried_again() -> None:
    background: Background[int] = Background(1)
    with pytest.raises(ZeroDivisionError):
        background.of("a", lambda: 1 // 0).result(LONG_SECONDS)
    assert background.of("a", lambda: 1).result(LONG_SECONDS) == 1
