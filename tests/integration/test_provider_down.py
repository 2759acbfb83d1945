"""A provider that goes down in the middle of a run, from the command line."""

from __future__ import annotations

from pathlib import Path

from arena.store.journal import RECORD_LINES, entries
from tests.integration.conftest import Arena
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def test_no_question_fails_for_good_because_the_provider_was_down(arena: Arena, study: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    down = [True]

    def react(body: object) -> Play:
        return failure(503) if down[0] else completion("ok", USAGE)

    with serving(reaction=react) as server:
        settings = f"{{model: m, base_url: '{server.base_url}', max_attempts: 1, breaker_failures: 3}}"
        text = study.read_text().replace("{model: 'fake:'}", settings)
        study.write_text(text + "strategies: [closed_book]\nconcurrency: 1\n")
        stopped = arena("run", study, "--run-id", "night", "--no-cache")
        assert stopped.code == 2
        assert "failed 3 calls in a row" in stopped.err
        assert list(entries(runs / "night" / "records.jsonl", RECORD_LINES)) == []
        down[0] = False
        more = arena("run", "--resume", "--run-id", "night", "--runs-dir", runs)
        assert more.code == 0, more.err
    outcomes = [record.outcome for record in entries(runs / "night" / "records.jsonl", RECORD_LINES)]
    assert outcomes == ["answered"] * 5
