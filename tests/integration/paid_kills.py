"""A budget under kills (-9) and Ctrl-C: what the run says it spent against the books of the server that it paid.

python -m tests.integration.paid_kills 20 SEED            # kill -9
python -m tests.integration.paid_kills 20 SEED stop       # Ctrl-C
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from arena.llm.metering import GIVEN_UP
from arena.store import RunStore
from tests.patience import wait_until
from tests.warm_processes import WarmProcess

BUDGET, A_CALL, CONCURRENCY = 3_000_000, 100_000, 8
_HALF = A_CALL // 2
_LATENCY_SECONDS = (0.05, 0.8)
_JITTER_SECONDS = 0.25
"""So that a session brings about one reply before it is ended, and twenty do not use the budget up."""


@dataclass(slots=True)
class Handed:
    """A reply that the server handed out, told from all others by its tokens.

    `taken`: whoever asked went on to ask on the same connection, and so had read it to its end.
    """

    session: int
    read: int
    written: int
    taken: bool = False


@dataclass(slots=True)
class Books:
    """The server's own: what it handed out, session by session. `allowed`: replies of this session (None: all)."""

    rng: random.Random
    handed: list[Handed] = field(default_factory=list)
    requests: list[int] = field(default_factory=lambda: [0])
    allowed: int | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def session(self) -> int:
        return len(self.requests) - 1

    def of_session(self, *, taken: bool = False) -> int:
        """Replies of this session; with `taken`, of those that were surely read."""
        return sum(one.session == self.session and (one.taken or not taken) for one in self.handed)

    def begin_session(self, allowed: int | None) -> None:
        """Whoever is still held belongs to the dead."""
        with self.changed:
            self.requests.append(0)
            self.allowed = allowed
            self.changed.notify_all()

    def wait_for(self, seen: Callable[[], bool], process: WarmProcess) -> None:
        """Until it is so, or the process has ended."""

        def seen_now() -> bool:
            with self.changed:
                return seen()

        wait_until(seen_now, process)

    def hand_out(self, before: Handed | None) -> Handed | None:
        """The reply to a request that came after `before` on its connection; None: its asker is dead, or is held."""
        with self.changed:
            gated = self.allowed is not None
            session, latency = self.session, self.rng.uniform(*_LATENCY_SECONDS)
            self.requests[-1] += 1
            if before is not None:
                before.taken = True
            self.changed.notify_all()
        time.sleep(latency)
        with self.changed:
            while session == self.session and self.allowed is not None and self.of_session() >= self.allowed:
                self.changed.wait()
            if gated and session != self.session:
                return None
            number = len(self.handed)
            self.handed.append(Handed(session, _HALF + number, _HALF - number))
            self.changed.notify_all()
            return self.handed[-1]


@contextmanager
def paid_server(books: Books) -> Iterator[str]:
    """The base URL of an OpenAI-compatible server on loopback that keeps `books`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        last: Handed | None = None

        def do_GET(self) -> None:
            self._send(b'{"data": []}')

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.last = books.hand_out(self.last)
            if self.last is None:
                self.close_connection = True
                return
            message = {"role": "assistant", "content": f"reply {self.last.read}"}
            usage = {"prompt_tokens": self.last.read, "completion_tokens": self.last.written, "total_tokens": A_CALL}
            body = {
                "id": "c", "object": "chat.completion", "created": 1, "model": "served", "usage": usage,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            }  # fmt: skip
            self._send(json.dumps(body).encode())

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            return  # who asked is dead

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True, slots=True)
class Spender:
    """A run under a budget of tokens that is begun, or gone on with, as often as it is ended."""

    folder: Path
    books: Books
    base_url: str

    @property
    def store(self) -> RunStore:
        return RunStore(self.folder / "runs" / "r1")

    def begin(self, allowed: int | None = None) -> WarmProcess:
        self.books.begin_session(allowed)
        study = self.folder / "study.yaml"
        study.write_text(
            "strategies: [closed_book, oracle]\nmlflow: false\nrun_id: r1\nsample: {limit: 60}\nhealth_check: false\n"
            f"concurrency: {CONCURRENCY}\nbudget: {{max_tokens: {BUDGET}}}\n"
            f"llm: {{model: 'openai:served', base_url: '{self.base_url}'}}\n",
            encoding="utf-8",
        )
        begun = (self.store.folder / "manifest.json").exists()
        what = ["--resume", "--run-id", "r1"] if begun else [str(study)]
        return WarmProcess(
            ["run", *what, "--runs-dir", str(self.folder / "runs")],
            {**os.environ, "ARENA_CACHE": str(self.folder / "cache"), "OPENAI_API_KEY": "none"},
        )

    def end(self, process: WarmProcess, number: signal.Signals) -> bool:
        """Send the signal, and wait; whether it met the process alive."""
        alive = process.poll() is None
        if alive:
            process.send_signal(number)
        process.end()
        return alive

    def spend_all(self) -> str:
        """Let the run go on until its budget is used up; what it said then."""
        with self.begin() as process:
            code, err = process.end()
        assert code == 2, err
        assert "the budget is used up" in err, err
        return err


@contextmanager
def spender(seed: int = 0) -> Iterator[Spender]:
    """A run that has not begun, and the server that it will pay."""
    books = Books(random.Random(seed))
    with tempfile.TemporaryDirectory(prefix="arena-money-") as folder, paid_server(books) as base_url:
        yield Spender(Path(folder), books, base_url)


def settle(run: Spender, ended: int) -> dict[str, Any]:
    """Assert that the run's books are the server's, but for what was in flight when it was `ended`; the figures."""
    paid = list(run.store.paid())
    entered = Counter(
        (one.attempt.input_tokens, one.attempt.output_tokens) for one in paid if one.attempt.fault is None
    )
    handed = run.books.handed
    assert set(entered.values()) <= {1}, "a reply is entered twice"
    assert entered.keys() <= {(one.read, one.written) for one in handed}, "the ledger has what was never handed out"
    spent, tally = run.store.manifest()["spent"], A_CALL * len(handed)
    assert spent["tokens"] == A_CALL * len(entered), "what is spent is not what was answered"
    missing = [one for one in handed if (one.read, one.written) not in entered]
    assert not [one for one in missing if one.taken], "a reply was read, and is not in the ledger"
    for session, lost in Counter(one.session for one in missing).items():
        assert lost <= CONCURRENCY, f"session {session} lost {lost} replies, more than were in flight"
    given_up = sum(one.attempt.fault == GIVEN_UP for one in paid)
    assert spent["unknown"] == given_up
    # What is in flight when the bound is reached is waited for, and counted.
    assert BUDGET - spent["reserved_tokens"] <= spent["tokens"] < BUDGET + CONCURRENCY * A_CALL
    assert tally <= spent["tokens"] + ended * CONCURRENCY * A_CALL
    return {
        "ended": ended,
        "handed_out": len(handed),
        "tally_tokens": tally,
        "spent_tokens": spent["tokens"],
        "lost_in_flight": len(missing),
        "most_lost_at_once": max(Counter(one.session for one in missing).values(), default=0),
        "given_up_and_entered": given_up,
        "reserved_tokens": spent["reserved_tokens"],
    }


def main(times: int, seed: int = 0, how: str = "kill") -> dict[str, Any]:
    """End the run so often at seeded random moments while it asks, and let it use its budget up."""
    rng = random.Random(seed)
    ended = 0
    with spender(seed) as run:
        while ended < times:
            with run.begin() as process:
                wanted = rng.randint(1, CONCURRENCY)
                run.books.wait_for(lambda wanted=wanted: run.books.requests[-1] >= wanted, process)  # type: ignore[misc]
                time.sleep(rng.uniform(0.0, _JITTER_SECONDS))
                if not run.end(process, signal.SIGINT if how == "stop" else signal.SIGKILL):
                    break
                ended += 1
        run.spend_all()
        return settle(run, ended)


if __name__ == "__main__":
    figures = main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4])
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
