"""A run whose dataset was moved: every command takes the new place and checks it by its fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.store import RunStore
from tests.integration.conftest import Arena


@pytest.fixture
def moved(arena: Arena, study: Path, jsonl_folder: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two finished runs whose dataset lies elsewhere now: the folder of runs, and the new place."""
    study.write_text(study.read_text() + "strategies: [closed_book, oracle]\n")
    for name in ("a", "b"):
        done = arena("run", study, "--run-id", name, "--judge", "fake:")
        assert done.code == 0, done.err
    return tmp_path / "runs", jsonl_folder.rename(tmp_path / "elsewhere")


def commands(runs: Path, out: Path) -> dict[str, list[str | Path]]:
    question = next(iter(RunStore(runs / "a").records())).question_id
    return {
        "score": ["score", runs / "a"],
        "report": ["report", runs / "a"],
        "inspect": ["inspect", runs / "a", question],
        "compare": ["compare", runs / "a", runs / "b"],
        "gate": ["gate", runs / "a", "--baseline", runs / "b"],
        "export": ["export", runs / "a", "--out", out / "exported"],
        "judge": ["judge", runs / "a"],
        "verify": ["verify", runs / "a"],
        "review": ["review", "export", runs / "a", "--out", out / "sheet.csv"],
        "papers": ["papers", "compare", runs / "a"],
    }


def test_every_command_takes_the_new_place(arena: Arena, moved: tuple[Path, Path], tmp_path: Path) -> None:
    runs, place = moved
    before = (runs / "a" / "leaderboard.json").read_bytes()
    for name, command in commands(runs, tmp_path).items():
        if name not in ("papers", "verify"):  # they do without, and say so
            lost = arena(*command)
            assert lost.code == 2, name
            assert "add --dataset with the place where they are now" in lost.err, name
        found = arena(*command, "--dataset", f"jsonl:{place}")
        assert found.code == 0, (name, found.err)
    assert (runs / "a" / "leaderboard.json").read_bytes() == before


def test_other_data_are_refused_by_their_fingerprint(arena: Arena, moved: tuple[Path, Path], tmp_path: Path) -> None:
    runs, place = moved
    corpus = place / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + '{"doc_id": "another", "text": "Said."}\n')
    for name, command in commands(runs, tmp_path).items():
        if name in ("papers", "verify"):
            continue
        done = arena(*command, "--dataset", f"jsonl:{place}")
        assert done.code == 2, name
        assert "other data would give other scores" in done.err, name
    assert arena("verify", runs / "a", "--dataset", f"jsonl:{place}").code == 1
