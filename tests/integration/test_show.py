"""`arena show`, of runs that are and are not finished, and what a run says at its end."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.conftest import Arena


def stopped(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8")) | {"status": "stopped"}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_an_unfinished_run_is_shown_with_a_warning_or_not_at_all(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    folder = tmp_path / "runs" / "r1"
    assert arena("show", folder).err == ""
    go_on = f"arena run --resume --run-id r1 --runs-dir {tmp_path / 'runs'} finishes it"
    stopped(folder)
    older = arena("show", folder)
    assert (older.code, "retrieval_only" in older.out) == (0, True)
    assert "its leaderboard from before" in older.err
    assert go_on in older.err
    (folder / "leaderboard.json").unlink()
    none = arena("show", folder)
    assert (none.code, none.out) == (2, "")
    assert go_on in none.err
    assert f"arena score {folder} shows what there is" in none.err


def test_a_run_ends_with_the_commands_that_come_next(arena: Arena, study: Path, tmp_path: Path) -> None:
    whole = arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only").out
    assert f"arena show {tmp_path / 'runs' / 'r1'} " in whole
    assert "arena merge" not in whole
    shard = arena("run", study, "--run-id", "s1", "--strategies", "retrieval_only", "--shard", "1/2").out
    assert f"arena merge {tmp_path / 'runs' / 's1'} ... --into NAME" in shard
    assert "all 2 shards; this is number 1" in shard
    script = tmp_path / "down.yaml"
    script.write_text("rules: [{error: 400}]\n")
    options = ("--strategies", "closed_book", "--llm", f"fake:{script}", "--set", "health_check=false")
    failed = arena("run", study, "--run-id", "f1", *options)
    assert failed.code == 3
    assert f"arena run --retry-failed --run-id f1 --runs-dir {tmp_path / 'runs'}" in failed.out
