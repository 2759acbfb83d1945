"""The ledger against the fake provider's own books, to the token: with faults, at any concurrency, through kills."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from pydantic import BaseModel

from arena.config import LLMSettings
from arena.errors import ModelCallError
from arena.llm.fake.script import FAULTS
from arena.llm.ledger import Ledger
from arena.llm.opening import open_model
from arena.protocols import Message
from arena.store.journal import RECORD_LINES, entries
from arena.types import CallAttempt, LLMCall
from tests.integration.four_calls import install
from tests.patience import wait_until
from tests.warm_processes import WarmProcess

ROOT = Path(__file__).parents[2]
MIXED: Mapping[str, float] = {**{str(fault): 0.02 for fault in FAULTS}, "retry_after_seconds": 0.001}
IN_FLIGHT = 8
NO_REPLY = frozenset({"rate_limit", "rate_limit_retry_after", "server_error", "timeout", "reset", "malformed_json"})

Line = Mapping[str, Any]


class Verdict(BaseModel):
    reason: str
    yes: bool


class Book(NamedTuple):
    """What was handed out, or entered: requests, those of unknown usage, and tokens in and out of the others."""

    requests: int
    unknown: int
    tokens_in: int
    tokens_out: int


def entered(attempts: Iterable[CallAttempt]) -> Book:
    return _book([(attempt.input_tokens, attempt.output_tokens) for attempt in attempts])


def handed_out(lines: Iterable[Line]) -> Book:
    return _book([(line["input_tokens"], line["output_tokens"]) for line in lines])


def _book(counts: Sequence[tuple[int | None, int | None]]) -> Book:
    known = [(read, written) for read, written in counts if read is not None and written is not None]
    unknown = sum(read is None and written is None for read, written in counts)
    assert len(known) + unknown == len(counts), "usage is known or unknown as a whole"
    return Book(len(counts), unknown, sum(read for read, _ in known), sum(written for _, written in known))


def tallied(folder: Path) -> list[Line]:
    """The provider's books so far; a kill may have left a line of which nobody knows."""
    path = folder / "tally.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def play(folder: Path, **script: Any) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps({"tally": "tally.jsonl", "seed": 11, **script}))
    return path


async def no_wait(seconds: float) -> None:
    """Back-offs cost no time here."""


def no_weights(name: str) -> Path:
    raise AssertionError(name)


async def ask_everything(settings: LLMSettings, questions: int) -> list[LLMCall]:
    """A text, a judgement and a form for each question, all questions at once; the ledgers' entries."""
    ledgers: list[Ledger] = []

    async def question(number: int, ledger: Ledger) -> None:
        asked = f"[1] Tarn: The Tarn rises near Oster {number}.\n\nQuestion: Where does the Tarn {number} rise?"
        turns = (Message("user", asked),)
        judged = (Message("user", f"{asked}\nReply with one of: yes, no"),)
        for call in (
            lambda: ledger.write(turns, role="generate"),
            lambda: ledger.classify(judged, ("yes", "no"), role="judge"),
            lambda: ledger.ask(turns, Verdict, role="form"),
        ):
            try:
                await call()
            except ModelCallError:
                continue

    async with open_model(settings, weights=no_weights, sleep=no_wait) as model, anyio.create_task_group() as group:
        for number in range(questions):
            ledgers.append(Ledger(model, time.perf_counter))
            group.start_soon(question, number, ledgers[-1])
    return [call for ledger in ledgers for call in ledger.calls]


@pytest.mark.parametrize("concurrency", [1, 16])
def test_every_attempt_is_entered_to_the_token(tmp_path: Path, concurrency: int) -> None:
    script = play(tmp_path, faults=MIXED, latency_seconds=0.001)
    settings = LLMSettings(model=f"fake:{script}", concurrency=concurrency)
    calls = anyio.run(ask_everything, settings, 120)
    lines = tallied(tmp_path)
    assert entered(attempt for call in calls for attempt in call.attempts) == handed_out(lines)
    assert {str(line["fault"]) for line in lines} == {"None", *FAULTS}
    faulty = sum(line["fault"] is not None for line in lines) / len(lines)
    assert 0.1 < faulty < 0.3
    by_prompt = Counter(line["prompt"] for line in lines)
    assert by_prompt == Counter(call.prompt_sha for call in calls for _ in call.attempts)


def test_concurrency_changes_neither_faults_nor_tokens(tmp_path: Path) -> None:
    books = []
    for concurrency in (1, 16):
        folder = tmp_path / str(concurrency)
        folder.mkdir()
        script = play(folder, faults=MIXED)
        anyio.run(ask_everything, LLMSettings(model=f"fake:{script}", concurrency=concurrency), 40)
        books.append(Counter(json.dumps(line) for line in tallied(folder)))
    assert books[0] == books[1]


def start(site: Path, *arguments: str) -> WarmProcess:
    """A run in a process of its own."""
    return WarmProcess(["run", *arguments], os.environ, site)


def kill_once_answered(process: WarmProcess, folder: Path, answers: int) -> None:
    """Kill the run as soon as the provider has handed out so many answers."""
    with process:
        wait_until(lambda: len(tallied(folder)) >= answers, process)
        process.kill()
        code, err = process.end()
    assert code == -signal.SIGKILL, err


def kept_replies(folder: Path) -> int:
    connection = sqlite3.connect(folder / "replies.sqlite")
    try:
        (number,) = connection.execute("SELECT count(*) FROM replies").fetchone()
        return int(number)
    finally:
        connection.close()


def paid(lines: Iterable[Line]) -> list[Line]:
    """The answers that can be kept."""
    return [line for line in lines if line["fault"] not in NO_REPLY]


def once(lines: Iterable[Line]) -> list[Line]:
    """One line a call."""
    return list({line["call"]: line for line in lines}.values())


def test_nothing_paid_is_asked_twice_through_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a call had used when it was killed before its reply came is in no ledger: nothing, but for empty replies,
    which are left out here.
    """
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    script = play(tmp_path, faults={**MIXED, "empty": 0.0}, latency_seconds=0.1)
    study = tmp_path / "study.yaml"
    study.write_text(
        f"strategies: [four_calls]\nsample: {{limit: 24}}\nconcurrency: {IN_FLIGHT}\nmlflow: false\n"
        f"llm: {{model: 'fake:{script}', cache: true}}\nruns_dir: {tmp_path / 'runs'}\nrun_id: r1\n"
    )
    site = install(tmp_path / "site")
    again = ("--resume", "--run-id", "r1", "--runs-dir", str(tmp_path / "runs"))
    lost = 0
    for arguments, answers in (((str(study),), 30), (again, 65)):
        kill_once_answered(start(site, *arguments), tmp_path, answers)
        unkept = len(once(paid(tallied(tmp_path)))) - kept_replies(tmp_path)
        assert 0 <= unkept <= IN_FLIGHT
        lost += unkept
    with start(site, *again) as process:
        code, err = process.end()
    assert code == 0, err

    answers_paid = paid(tallied(tmp_path))
    assert len(answers_paid) - len(once(answers_paid)) <= lost
    calls = [
        call for record in entries(tmp_path / "runs" / "r1" / "records.jsonl", RECORD_LINES) for call in record.calls
    ]
    assert sum(call.replayed for call in calls) > 3
    replies = {call.prompt_sha: call.attempts[-1] for call in calls if call.error is None}
    assert len(replies) >= 4 * 24
    assert entered(replies.values()) == handed_out(once(answers_paid))
