"""Addresses in the place of a file or folder are refused before anything is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Arena


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--runs-dir", "s3://bucket/runs"],
        ["run", "--runs-dir=gs://bucket/runs"],
        ["run", "--dataset", "jsonl:s3://bucket/data"],
        ["run", "--dataset", "musique:https://host/dev.jsonl"],
        ["run", "--llm", "local:s3://bucket/model.gguf"],
        ["run", "--set", "runs_dir=abfss://box/runs"],
        ["run", "--set", "embedding.model=hdfs://host/minilm"],
        ["show", "s3://bucket/runs/r1"],
        ["report", "r1", "--out", "file:///tmp/report.html"],
        ["gate", "r1", "--markdown", "S3://bucket/gate.md"],
        ["datasets", "make-world", "az://box/world"],
        ["serve", "sftp://host/runs"],
    ],
)
def test_no_option_takes_an_address_for_a_path(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = arena(*arguments)
    assert done.code == 2, done.err
    assert "is an address, and files are read and written on this machine alone" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["runs_dir: s3://bucket/runs", "dataset: jsonl:s3://bucket/data"])
def test_no_setting_does(arena: Arena, study: Path, line: str) -> None:
    name = line.partition(":")[0]
    kept = [one for one in study.read_text().splitlines() if not one.startswith(f"{name}:")]
    study.write_text("\n".join([*kept, line]) + "\n")
    done = arena("run", study)
    assert done.code == 2
    assert f"{name}: " in done.err
    assert "is an address" in done.err


def test_nor_the_cache(arena: Arena, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", "s3://bucket/cache")
    done = arena("run", study, "--strategies", "retrieval_only")
    assert done.code == 2
    assert "$ARENA_CACHE: 's3://bucket/cache' is an address" in done.err


def test_no_password_of_an_address_is_repeated(arena: Arena) -> None:
    done = arena("run", "--dataset", "musique:https://user:hunter5@host/dev.jsonl?key=sesame")
    assert done.code == 2
    assert "https://host/dev.jsonl" in done.err
    assert not {"hunter5", "sesame"} & {word for word in ("hunter5", "sesame") if word in done.err + done.out}
