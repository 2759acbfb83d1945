"""Stdout that is gone, full, or cannot write a character: files are written, and the exit code says what happened."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.store import RunStore
from experiments.terminal.tables import Output, printing, put
from tests.patience import PATIENCE_SECONDS
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run

ROOT = Path(__file__).parents[2]
CODE = "import sys; from experiments.cli.main import main; main(sys.argv[1:])"
NAME = "übergrößenträger ≥ 😀"


def arena(*arguments: str | Path, stdout: int, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=stdout, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS
    )


def gone() -> int:
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.fixture
def store(tmp_path: Path, jsonl_folder: Path) -> RunStore:
    return reviewed_run(tmp_path / "r1", jsonl_folder)


@pytest.mark.parametrize("place", ["pipe", "/dev/full"])
def test_what_nobody_can_read_is_4_after_all_files(
    store: RunStore, tmp_path: Path, jsonl_folder: Path, place: str
) -> None:
    (tmp_path / "study.yaml").write_text(
        f"dataset: jsonl:{jsonl_folder}\nllm: {{model: 'fake:'}}\nruns_dir: {tmp_path / 'runs'}\nmlflow: false\n"
        "strategies: [closed_book]\n"
    )
    commands: list[tuple[list[str | Path], Path]] = [
        (["run", tmp_path / "study.yaml", "--run-id", "r2"], tmp_path / "runs" / "r2" / "report.html"),
        (["show", store.folder, "--markdown"], store.folder),
    ]
    for arguments, written in commands:
        stdout = gone() if place == "pipe" else os.open(place, os.O_WRONLY)
        done = arena(*arguments, stdout=stdout)
        os.close(stdout)
        assert (done.returncode, written.exists()) == (4, True), done.stderr.decode()
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr
        assert b"arena: done, but what it prints could not be written" in done.stderr


def test_a_check_that_failed_is_1_whoever_reads(store: RunStore, tmp_path: Path) -> None:
    command = ("gate", store.folder, "--markdown", tmp_path / "gate.md")
    assert arena(*command, stdout=subprocess.PIPE).returncode == 1
    (tmp_path / "gate.md").unlink()
    stdout = gone()
    done = arena(*command, stdout=stdout)
    os.close(stdout)
    assert (done.returncode, (tmp_path / "gate.md").exists()) == (1, True)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_is_written_as_json_writes_it(tmp_path: Path, encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    before, sys.stdout = sys.stdout, stream
    try:
        with printing() as output:
            put(json.dumps({"name": NAME}, ensure_ascii=False))
    finally:
        sys.stdout = before
    assert output.fault is None
    assert json.loads(raw.getvalue().decode(encoding)) == {"name": NAME}
    assert b"\\u2265 \\ud83d\\ude00" in raw.getvalue()


def test_every_command_prints_in_ascii(store: RunStore) -> None:
    for arguments in (["show", store.folder], ["show", store.folder, "--markdown"], ["datasets", "list"], ["--help"]):
        done = arena(*arguments, stdout=subprocess.PIPE, encoding="ascii")
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode("ascii")


def test_a_fault_is_kept_and_ends_nothing() -> None:
    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(28, "No space left on device")

    output = Output(Full())
    assert (output.write("some"), output.write("more")) == (4, 4)
    assert output.fault is not None
    assert output.fault.strerror == "No space left on device"
    assert Output(None).write("nothing is there") == 16
