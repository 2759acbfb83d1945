from __future__ import annotations

import itertools
import json
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ModelSetupError
from arena.llm.cache import FORMAT, CachedReply, ReplyCache
from arena.protocols import TokenChoice
from arena.types import CallAttempt
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
PAID = CallAttempt(11, 3, cached_input_tokens=2, reasoning_tokens=None, service_seconds=0.25)
REPLY = CachedReply(
    "Paris", (TokenChoice("Paris", -0.1, {"Paris": -0.1, "Rome": float("-inf")}),), (PAID,), "stop", ("seed",)
)

WRITE = """
import sys
from pathlib import Path
from arena.llm.cache import CachedReply, ReplyCache
from arena.types import CallAttempt
from tests.patience import PATIENCE_SECONDS

cache = ReplyCache(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    cache.put(f"{number}", CachedReply(sys.argv[2], (), (CallAttempt(1, number),), None))
    print(number, flush=True)
"""

FRESH = itertools.count()

count = st.one_of(st.none(), st.integers(0, 10**9))
seconds = st.floats(0, 1e6)
text = st.text(st.characters(exclude_categories=()), max_size=8)
logprob = st.floats(max_value=0.0, allow_nan=False)
replies = st.builds(
    CachedReply,
    text,
    st.lists(st.builds(TokenChoice, text, logprob, st.dictionaries(text, logprob, max_size=2)), max_size=3).map(tuple),
    st.lists(
        st.builds(CallAttempt, count, count, count, count, seconds, seconds, st.one_of(st.none(), text)),
        min_size=1,
        max_size=3,
    ).map(tuple),
    st.one_of(st.none(), text),
    st.lists(text, max_size=2).map(tuple),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


def writing(path: Path, text: str, n: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITE, str(path), text, str(n)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def spoil(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplyCache]:
    with ReplyCache(tmp_path_factory.mktemp("cache") / "replies.sqlite") as cache:
        yield cache


@given(replies)
def test_a_reply_comes_back_as_it_was(shared: ReplyCache, reply: CachedReply) -> None:
    key = str(next(FRESH))
    assert shared.get(key) is None
    shared.put(key, reply)
    assert shared.get(key) == reply


def test_it_is_there_for_the_next_run(path: Path) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
    with ReplyCache(path) as cache:
        assert cache.get("k") == REPLY
        assert cache.get("other") is None


def test_the_first_reply_stays(path: Path) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
        cache.put("k", CachedReply("Rome", (), (PAID,), "stop"))
        assert cache.get("k") == REPLY


@pytest.mark.parametrize(
    "damage",
    ["json = substr(json, 1, 20)", "json = 'text'", "json = zeroblob(9)", "checksum = checksum + 1", "key = 'k2'"],
)
def test_a_damaged_reply_is_none_and_makes_room_for_the_next(path: Path, damage: str) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
        spoil(path, f"UPDATE replies SET {damage}")
        again = CachedReply("again", (), (PAID,), None)
        for key in ("k", "k2"):
            assert cache.get(key) is None
            cache.put(key, again)
            assert cache.get(key) == again


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"my notes on things " * 400)
    with pytest.raises(ModelSetupError, match=r"cannot use the reply cache .*replies\.sqlite.*delete.*--no-cache"):
        ReplyCache(path)
    assert path.read_bytes() == b"my notes on things " * 400


def test_somebody_elses_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    spoil(path, "CREATE TABLE replies (key TEXT)")
    before = path.read_bytes()
    with pytest.raises(ModelSetupError, match=r"something else.*--no-cache"):
        ReplyCache(path)
    assert path.read_bytes() == before


def test_another_format_is_refused(path: Path) -> None:
    ReplyCache(path).close()
    spoil(path, f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(ModelSetupError, match=rf"format {FORMAT + 1}.*reads format {FORMAT}: delete the file"):
        ReplyCache(path)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelSetupError, match=r"cannot use the reply cache.*--no-cache"):
        ReplyCache(tmp_path / "file" / "replies.sqlite")
    with pytest.raises(ModelSetupError, match=r"cannot use the reply cache.*--no-cache"):
        ReplyCache(tmp_path)


def test_a_file_damaged_meanwhile_is_said(path: Path) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
        spoil(path, "DROP TABLE replies")
        with pytest.raises(ModelSetupError, match=r"no such table.*--no-cache"):
            cache.get("k")
        with pytest.raises(ModelSetupError, match="no such table"):
            cache.put("k", REPLY)


def test_threads_share_one_cache(path: Path) -> None:
    with ReplyCache(path) as cache, ThreadPoolExecutor(8) as pool:

        def use(number: int) -> int | None:
            key = str(number % 50)
            cache.put(key, CachedReply(key, (), (CallAttempt(1, number),), None))
            found = cache.get(key)
            assert found is not None
            assert found.text == key
            return found.attempts[-1].output_tokens

        kept = list(pool.map(use, range(400)))
    assert len(set(kept)) == 50


def test_processes_share_one_file(path: Path) -> None:
    processes = [writing(path, str(number), 30) for number in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, err
    with ReplyCache(path) as cache:
        found = [cache.get(str(number)) for number in range(30)]
    assert all(reply is not None and reply.text in {"0", "1", "2"} for reply in found)


def test_a_kill_loses_no_reply_that_was_kept(path: Path) -> None:
    for kill in range(2):
        with writing(path, f"run {kill}", 100_000) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            first = process.stdout.readline()
            process.kill()
            kept = [int(line) for line in (first + process.stdout.read()).splitlines() if line.isdigit()]
        with ReplyCache(path) as cache:
            assert kept
            for number in kept[:-1]:  # the last line may be cut
                reply = cache.get(str(number))
                assert reply is not None
                assert reply.attempts == (CallAttempt(1, number),)


def poison(path: Path, key: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Make what is kept under `key` what an older version may have kept there, its checksum right."""
    connection = sqlite3.connect(path, isolation_level=None)
    (payload,) = connection.execute("SELECT json FROM replies WHERE key = ?", (key,)).fetchone()
    fields = json.loads(payload)
    change(fields)
    payload = json.dumps(fields).encode()
    row = (payload, zlib.crc32(payload, zlib.crc32(key.encode())), key)
    connection.execute("UPDATE replies SET json = ?, checksum = ? WHERE key = ?", row)
    connection.close()


@pytest.mark.parametrize("odd", [20.5, -1, 10**30, "12", True, [], float("nan")])
def test_a_count_that_an_older_version_kept_as_it_came_is_unknown(path: Path, odd: object) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
        poison(path, "k", lambda fields: fields["attempts"][0].update(input_tokens=odd))
        assert cache.get("k") == replace(REPLY, attempts=(replace(PAID, input_tokens=None),))


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update(text=5),
        lambda fields: fields.update(finish_reason=["stop"]),
        lambda fields: fields.update(dropped=[1]),
        lambda fields: fields.pop("attempts"),
        lambda fields: fields["attempts"][0].update(another=1),
    ],
)
def test_what_is_kept_and_is_no_reply_makes_room_for_the_next(
    path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", REPLY)
        poison(path, "k", change)
        assert cache.get("k") is None
        cache.put("k", REPLY)
        assert cache.get("k") == REPLY


def test_what_could_not_be_read_back_is_not_kept(path: Path) -> None:
    with ReplyCache(path) as cache:
        cache.put("k", replace(REPLY, finish_reason=5))  # type: ignore[arg-type]
        assert cache.get("k") is None
