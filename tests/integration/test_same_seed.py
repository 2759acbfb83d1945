"""Same seed, same leaderboard, at any concurrency."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.conftest import Arena
from tests.integration.kills import timeless


def test_concurrency_changes_no_byte_of_the_leaderboard_but_times(arena: Arena, study: Path, tmp_path: Path) -> None:
    boards = []
    for concurrency in ("1", "4", "16"):
        strategies = "retrieval_only,vanilla,corrective,self_rag,closed_book,oracle"
        done = arena("run", study, "--run-id", "r1", "--strategies", strategies, "--concurrency", concurrency)
        assert done.code == 0, done.err
        board = (tmp_path / "runs" / "r1" / "leaderboard.json").read_text(encoding="utf-8")
        boards.append(json.dumps(timeless(json.loads(board))))
        (tmp_path / "runs").rename(tmp_path / f"runs at {concurrency}")
    assert boards[0] == boards[1] == boards[2]
    assert '"answer_f1"' in boards[0]
