"""Faults of providers and of cells: each ends in a state that is said, and that resumes."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.config import load_config
from arena.errors import ConfigError
from arena.llm.metering import GIVEN_UP
from arena.store import RunStore
from arena.store.journal import RECORD_LINES, entries
from arena.types import RunRecord
from experiments.execution.asking import complete
from experiments.execution.prepare import prepare
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from tests.integration.conftest import Arena, Done
from tests.unit.llm.chat_server import Play, Reaction, completion, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
Run = Callable[..., Done]


def records(folder: Path) -> list[RunRecord]:
    return list(entries(folder / "records.jsonl", RECORD_LINES))


def status(folder: Path) -> str:
    return str(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["status"])


@contextmanager
def provider(study: Path, arena: Arena, react: Reaction, settings: str = "") -> Iterator[Run]:
    """`begin(...)` runs closed_book on five questions, one at a time, against a server that reacts so."""
    with serving(reaction=react) as server:
        llm = f"{{model: m, base_url: '{server.base_url}', max_attempts: 1, breaker_failures: 2, cache: false}}"
        text = study.read_text().replace("{model: 'fake:'}", llm)
        study.write_text(f"{text}strategies: [closed_book]\nconcurrency: 1\nrun_id: r1\n{settings}")
        yield lambda *more: arena("run", study, *more)


def resumed(arena: Arena, runs: Path, *more: str) -> Done:
    return arena("run", "--resume", "--run-id", "r1", "--runs-dir", runs, *more)


def test_one_call_in_ten_refused_changes_no_answer_and_no_bill(arena: Arena, study: Path, tmp_path: Path) -> None:
    tokens, texts = [], []
    for name, faults in (("calm", {}), ("busy", {"rate_limit_retry_after": 0.1, "retry_after_seconds": 0.001})):
        script = tmp_path / f"{name}.json"
        script.write_text(json.dumps({"seed": 5, "faults": faults}))
        assert arena("run", study, "--run-id", name, "--llm", f"fake:{script}").code == 0
        found = records(tmp_path / "runs" / name)
        calls = [call for record in found for call in record.calls]
        tokens.append(sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in calls))
        texts.append([record.answer and record.answer.text for record in found])
    assert any(len(call.attempts) > 1 for call in calls)
    assert tokens[0] == tokens[1]
    assert texts[0] == texts[1]


def test_a_provider_that_goes_silent_stops_the_run_and_no_question_has_failed_of_it(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    """The breaker sees nothing: calls that are given up have neither failed nor succeeded."""
    heard = [0]

    def react(body: dict[str, Any]) -> Play:
        heard[0] += 1
        return Play(completion("ok", USAGE).body, silent=2 < heard[0] <= 5)

    with provider(study, arena, react, "question_timeout_seconds: 2\n") as begin:
        stopped = begin()
        assert stopped.code == 2
        assert "3 questions in a row got no reply of their model within question_timeout_seconds" in stopped.err
        assert "arena run --resume --run-id r1" in stopped.err
        folder = tmp_path / "runs" / "r1"
        assert (status(folder), len(records(folder))) == ("stopped", 2)
        assert resumed(arena, tmp_path / "runs").code == 0
    assert [record.outcome for record in records(folder)] == ["answered"] * 5


def test_one_slow_question_has_failed_and_can_be_asked_again(arena: Arena, study: Path, tmp_path: Path) -> None:
    slow = [True]

    def react(body: dict[str, Any]) -> Play:
        held_up = slow[0] and "source of the Orlen Weir" in json.dumps(body)
        return Play(completion("ok", USAGE).body, silent=held_up)

    with provider(study, arena, react, "question_timeout_seconds: 2\n") as begin:
        assert begin().code == 3
        folder = tmp_path / "runs" / "r1"
        failed = [record for record in records(folder) if record.failure]
        assert [(record.question_id, record.failure and record.failure.stage) for record in failed] == [
            ("q1", "timeout")
        ]
        slow[0] = False
        again = resumed(arena, tmp_path / "runs", "--retry-failed")
        assert again.code == 0, again.err
    assert [record.outcome for record in records(folder)] == ["answered"] * 5


def test_a_question_that_takes_too_long_leaves_every_call_in_the_ledger_and_asks_nothing_more(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    """Strategies whose calls run side by side are given up as a whole.

    A reply may be on its way when its question is given up: of such a call the provider knows, and the ledger not what.
    """
    script = tmp_path / "slow.json"
    script.write_text(json.dumps({"latency_seconds": 0.1, "tally": "asked.jsonl"}))
    study.write_text(f"{study.read_text()}strategies: [self_rag, corrective, ircot]\nmodes: [dense]\nrun_id: r1\n")
    hurried = ("--set", "question_timeout_seconds=0.35", "--set", "health_check=false", "--set", "max_failure_share=1")
    done = arena("run", study, "--llm", f"fake:{script}", *hurried, "--set", "llm.breaker_failures=99")
    assert done.code == 0, done.err
    found = records(tmp_path / "runs" / "r1")
    calls = [call for record in found for call in record.calls]
    entered = Counter(call.prompt_sha for call in calls)
    answered = Counter(call.prompt_sha for call in calls if call.error != GIVEN_UP)
    asked = Counter(json.loads(line)["prompt"] for line in (tmp_path / "asked.jsonl").read_text().splitlines())
    assert answered <= asked <= entered != answered
    assert {record.failure.stage for record in found if record.failure} == {"timeout"}
    assert all(record.failure for record in found if any(call.error for call in record.calls))


def test_a_cell_that_cannot_answer_stops_the_run_before_the_long_part(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    broken = [True]

    def react(body: dict[str, Any]) -> Play:
        return failure(400, "the prompt is malformed") if broken[0] else completion("ok", USAGE)

    with provider(study, arena, react) as begin:
        stopped = begin()
        assert stopped.code == 2
        assert "closed_book in mode none" in stopped.err
        assert "failed each of its first 3 questions" in stopped.err
        assert "the prompt is malformed" in stopped.err
        folder = tmp_path / "runs" / "r1"
        assert (status(folder), records(folder)) == ("stopped", [])
        broken[0] = False
        assert resumed(arena, tmp_path / "runs").code == 0
    assert len(records(folder)) == 5


def test_what_a_failed_check_has_spent_is_spent(arena: Arena, study: Path, tmp_path: Path) -> None:
    """Its questions have no record, and the next session's budget knows of them all the same."""
    heard = [0]

    def react(body: dict[str, Any]) -> Play:
        heard[0] += 1
        return completion("", USAGE) if heard[0] <= 3 else completion("ok", USAGE)

    with provider(study, arena, react) as begin:
        assert begin().code == 2
        folder = tmp_path / "runs" / "r1"
        spent = json.loads((folder / "manifest.json").read_text())["spent"]
        assert (spent["tokens"], spent["attempts"], spent["unknown"]) == (3 * 14, 3, 0)
        refused = resumed(arena, tmp_path / "runs", "--max-run-tokens", "42")
        assert "the run has spent 42 tokens" in refused.err
        assert resumed(arena, tmp_path / "runs", "--max-run-tokens", "1000").code == 0
    assert len(records(folder)) == 5


def test_an_index_deleted_in_the_middle_of_a_run_costs_no_answer(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files stay readable for who holds them open, and the next session builds it again, equal to the last one."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    heard = [0]

    def react(body: dict[str, Any]) -> Play:
        heard[0] += 1
        if heard[0] == 2:
            shutil.rmtree(tmp_path / "cache" / "indexes")
        return failure(401) if heard[0] == 4 else completion("ok", USAGE)

    with provider(study, arena, react) as begin:
        stopped = begin("--strategies", "vanilla", "--modes", "hybrid")
        assert (stopped.code, "refuses every call" in stopped.err) == (2, True), stopped.err
        assert not (tmp_path / "cache" / "indexes").exists()
        done = resumed(arena, tmp_path / "runs")
        assert done.code == 0, done.err
    found = records(tmp_path / "runs" / "r1")
    assert [record.outcome for record in found] == ["answered"] * 5
    assert all(len(record.retrievals[0].hits) == 4 for record in found)


def test_an_empty_index_is_refused_before_anything_is_asked(study: Path, tmp_path: Path) -> None:
    reporter = Reporter(Console(stderr=True), quiet=True)
    store = RunStore(tmp_path / "runs" / "r1")
    with closing(prepare(load_config(study, {"strategies": ["vanilla"]}), reporter)) as prepared:
        assert prepared.equipment is not None
        emptied = replace(prepared, equipment=replace(prepared.equipment, index_facts={"passages": 0}))
        with pytest.raises(ConfigError, match="holds no passage"):
            complete(emptied, store, lambda: store.creating({}, prepared.plan), reporter)
    assert not store.folder.exists()
