"""The latency probe, from the command line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from arena.store import RunStore
from tests.integration.conftest import Arena

PROBED = ("--strategies", "vanilla,closed_book", "--modes", "dense", "--set", "latency_probe=2")


def board(folder: Path) -> Any:
    return json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))


def test_some_questions_of_every_cell_are_asked_again_one_at_a_time(arena: Arena, study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1"
    study.write_text(study.read_text().replace("{model: 'fake:'}", "{model: 'fake:', cache: true, seed: 91}"))
    done = arena("run", study, "--run-id", "r1", *PROBED)
    assert done.code == 0, done.err
    probed = list(RunStore.open(folder).probe_records())
    assert Counter(record.cell.strategy for record in probed) == {"vanilla": 3, "closed_book": 3}
    assert Counter(record.cell.strategy for record in probed if record.warm_up) == {"vanilla": 1, "closed_book": 1}
    assert not any(call.replayed for record in probed for call in record.calls)
    assert not any(call.queue_seconds > 0.05 for record in probed for call in record.calls)
    for cell in board(folder)["cells"]:
        assert cell["n_questions"] == 5
        assert cell["serial_latency_seconds"]["n_measured"] == 2
        assert cell["llm_calls_per_question"] == 1.0


def test_what_was_probed_is_not_probed_again(arena: Arena, study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1"
    assert arena("run", study, "--run-id", "r1", *PROBED).code == 0
    whole = (folder / "probe.jsonl").read_bytes()
    for kept in (whole, whole[: whole.index(b"\n") + 20]):
        (folder / "probe.jsonl").write_bytes(kept)
        again = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
        assert again.code == 0, again.err
        assert len(list(RunStore.open(folder).probe_records())) == 6
    assert (folder / "probe.jsonl").read_bytes().startswith(kept[: kept.index(b"\n") + 1])


def test_a_probe_that_runs_out_of_budget_keeps_the_answers_and_goes_on_with_more(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    assert arena("run", study, "--run-id", "whole", "--strategies", "closed_book").code == 0
    calls = [json.loads(line) for line in (runs / "whole" / "calls.jsonl").read_text().splitlines()]
    enough = str(sum(call["input_tokens"] + call["output_tokens"] for call in calls) + 1)
    strategies = ("--strategies", "closed_book", "--set", "latency_probe=4", "--concurrency", "1")
    stopped = arena("run", study, "--run-id", "r1", *strategies, "--max-run-tokens", enough)
    assert stopped.code == 2
    assert "all answers of 'r1' are kept, and what of the latency probe is done" in stopped.err
    store = RunStore.open(runs / "r1")
    assert len(list(store.records())) == 5
    assert 0 < len(list(store.probe_records())) < 5
    more = arena("run", "--resume", "--run-id", "r1", "--runs-dir", runs, "--max-run-tokens", "100000")
    assert more.code == 0, more.err
    assert len(list(store.probe_records())) == 5
