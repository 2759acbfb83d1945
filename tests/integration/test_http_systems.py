"""A service of the user's own over HTTP: whatever it does, every question ends in a record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.types import RunRecord
from tests.integration.conftest import Arena
from tests.integration.test_own_systems import records_of, run_arguments
from tests.samples import QUESTIONS
from tests.unit.experiments.own_systems import ANSWERS
from tests.unit.llm.chat_server import ChatServer, Play, failure, serving

KEY = "s3cret-of-the-service"
PLACE = {one.text: place for place, one in enumerate(QUESTIONS)}


def answer_to(request: dict[str, Any], **more: Any) -> Play:
    gold = ANSWERS[request["question"]]
    retrieved = [*gold.supporting_ids, "theirs"]
    return Play(json.dumps({"answer": (*gold.answers, "?")[0], "retrieved": retrieved, **more}).encode())


def failing(request: dict[str, Any]) -> Play:
    """Each of the five questions another way: answered, HTTP 500, silence, no JSON, nothing that was asked for."""
    plays = [answer_to(request), failure(500, f"my key is {KEY}"), Play(silent=True), Play(b"<html>"), Play(b"[1]")]
    return plays[PLACE[request["question"]]]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.llm.client.FIRST_BACKOFF_SECONDS", 0.001)
    monkeypatch.setenv("SERVICE_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(reaction=failing) as started:
        yield started


def asked(server: ChatServer) -> Counter[str]:
    """Question -> how often it was asked."""
    return Counter(request["question"] for request in server.requests)


def settings(server: ChatServer, **more: Any) -> list[str]:
    fields = {"http": f"{server.base_url}/ask", "timeout_seconds": 0.5, **more}
    return ["--set", f"systems.mine={json.dumps(fields)}"]


def own_records(folder: Path) -> dict[str, RunRecord]:
    return records_of(folder)["mine"]


def test_a_service_that_fails_in_every_way_leaves_a_record_of_every_question(
    tmp_path: Path, arena: Arena, server: ChatServer
) -> None:
    done = arena(*run_arguments(tmp_path), *settings(server, api_key_variable="SERVICE_API_KEY"))
    assert done.code == 3, done.err
    found = own_records(tmp_path)
    assert {one: record.outcome for one, record in found.items()} == {
        "q1": "answered",
        **dict.fromkeys(("q2", "q3", "q4", "q5"), "failed"),
    }
    told = {one: record.failure for one, record in found.items() if record.failure}
    assert [told[one].type for one in ("q2", "q3", "q4", "q5")] == ["SystemCallError"] * 2 + ["StrategyError"] * 2
    assert "HTTP 500" in told["q2"].message
    assert "(3 requests)" in told["q2"].message
    assert "no answer within 0.5 s" in told["q3"].message
    assert "no JSON" in told["q4"].message
    # Tried again is only what was refused; a question that waits too long may be under way, and nonsense is an answer.
    assert [asked(server)[one.text] for one in QUESTIONS] == [1, 3, 1, 1, 1]
    (row,) = json.loads((tmp_path / "runs" / "r" / "leaderboard.json").read_text())["cells"]
    assert (row["n_questions"], row["n_failed"]) == (5, 4)
    assert row["metrics"]["answer_em"]["coverage"] == pytest.approx(1 / 3)
    assert row["metrics"]["retrieval_recall"]["mean"] is None
    everything = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file())
    assert KEY.encode() not in everything + (done.out + done.err).encode()
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_a_run_that_was_stopped_asks_only_what_has_no_record(tmp_path: Path, arena: Arena) -> None:
    with serving(reaction=answer_to) as server:
        assert arena(*run_arguments(tmp_path), *settings(server)).code == 0
        journal = tmp_path / "runs" / "r" / "records.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # as a kill leaves it
        manifest = tmp_path / "runs" / "r" / "manifest.json"
        fields = json.loads(manifest.read_text())
        del fields["seal"]
        manifest.write_text(json.dumps(fields | {"status": "running", "finished": None}))
        server.requests.clear()
        done = arena("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs")
        assert done.code == 0, done.err
        assert sum(asked(server).values()) == 3
        assert len(own_records(tmp_path)) == 5


def test_a_service_that_is_down_stops_the_run_and_keeps_no_result_of_it(tmp_path: Path, arena: Arena) -> None:
    def reaction(request: dict[str, Any]) -> Play:
        return answer_to(request) if PLACE[request["question"]] == 0 or up else failure(503)

    up = False
    with serving(reaction=reaction) as server:
        chosen = settings(server, breaker_failures=2, retries=0, concurrency=1)
        done = arena(*run_arguments(tmp_path), *chosen, "--concurrency", "1")
        assert done.code == 2
        assert "system 'mine'" in done.err
        assert "failed 2 calls in a row" in done.err
        assert "--resume" in done.err
        assert own_records(tmp_path).keys() == {"q1"}
        up = True
        assert arena("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs").code == 0
        assert own_records(tmp_path).keys() == {one.question_id for one in QUESTIONS}
        assert asked(server)[QUESTIONS[0].text] == 1


def test_a_key_is_sent_to_an_address_of_a_run_folder_only_if_the_user_names_it(tmp_path: Path, arena: Arena) -> None:
    with serving(reaction=answer_to) as server:
        assert arena(*run_arguments(tmp_path), *settings(server, api_key_variable="SERVICE_API_KEY")).code == 0
        again = ("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs")
        refused = arena(*again)
        assert refused.code == 2
        assert f"--system mine=http:{server.base_url}/ask" in refused.err
        assert arena(*again, "--system", f"mine=http:{server.base_url}/ask").code == 0


def test_a_redirect_is_not_followed(tmp_path: Path, arena: Arena) -> None:
    with serving(reaction=answer_to) as elsewhere:
        away = Play(b"", 307, {"Location": f"{elsewhere.base_url}/ask"})
        with serving(away) as server:
            done = arena(*run_arguments(tmp_path), *settings(server, api_key_variable="SERVICE_API_KEY"))
        assert done.code == 3
        assert "which is not followed" in done.err + done.out
        assert elsewhere.requests == []
        assert {record.outcome for record in own_records(tmp_path).values()} == {"failed"}


@pytest.mark.parametrize(
    ("play", "told"),
    [
        (Play(b'{"answer": "x", "score": NaN}'), "NaN is no JSON value"),
        (Play(b"[" * 100_000), "its reply is no JSON"),
        (Play(b'"' + b"x" * 10_000_001 + b'"'), "longer than 10,000,000 bytes"),
        (Play(b"", 204), "its reply is no JSON"),
        (Play(b"\xff\xfe\x00", 200), "its reply is no JSON"),
        (Play(b"{}", 200, {"Content-Encoding": "gzip"}), "cannot be read"),
        (failure(422, "field required"), "HTTP 422"),
        (Play(reset=True), "gave no answer"),
    ],
    ids=["nan", "deep", "long", "empty", "no-text", "no-gzip", "refused", "reset"],
)
def test_every_form_of_nonsense_is_named_in_its_record(play: Play, told: str, tmp_path: Path, arena: Arena) -> None:
    with serving(play) as server:
        one = ["--ids", "q2"]
        assert arena(*run_arguments(tmp_path), *settings(server, retries=0, timeout_seconds=30), *one).code == 3
    (record,) = own_records(tmp_path).values()
    assert record.failure is not None
    assert told in record.failure.message
    assert len(record.failure.message) < 1000


def test_a_text_alone_is_an_answer(tmp_path: Path, arena: Arena) -> None:
    with serving(Play(b'"Mirelle Ostrand"')) as server:
        address = f"mine={server.base_url}/ask"
        assert arena(*run_arguments(tmp_path, address), "--ids", "q1").code == 0
    (record,) = own_records(tmp_path).values()
    assert record.answer is not None
    assert record.answer.text == "Mirelle Ostrand"
    assert not record.tells_evidence


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"api_key_variable": "NOT_SET_KEY"}, "$NOT_SET_KEY, the key of system 'mine', is not set"),
        ({"api_key_variable": "OPENAI_API_KEY", "http": "http://example.com/x"}, "is a key of openai.com"),
        ({"api_key_variable": "OPENAI_API_KEY"}, "is a key of openai.com"),
        ({"api_key_variable": "sk-1234"}, "name of an environment variable"),
        ({"api_key_variable": "SERVICE_API_KEY", "api_key_header": "no header"}, "no name of a header"),
        ({"http": "http://user:word@localhost/x"}, "user name or password"),
        ({"http": "http://exa\tmple/x"}, "is no address"),
        ({"http": "http://localhost:99999/x"}, "is no address"),
        ({"http": "localhost:8000"}, "write http://HOST:PORT/PATH"),
        ({"python": "a:b"}, "sets http and python"),
        ({"timeout": 3}, "did you mean 'timeout_seconds'"),
        ({"model": "gpt"}, "write PROVIDER:NAME"),
        ({"retries": -1}, "systems.mine.retries"),
    ],
)
def test_bad_settings_are_refused(fields: dict[str, Any], told: str, tmp_path: Path, arena: Arena) -> None:
    system = json.dumps({"http": "http://127.0.0.1:9/x", **fields})
    done = arena(*run_arguments(tmp_path), "--set", f"systems.mine={system}")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()
