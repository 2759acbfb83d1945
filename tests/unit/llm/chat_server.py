"""A small OpenAI-compatible server on the loopback interface that plays what a test tells it to."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Play:
    """One response of the server. `reset` breaks the connection instead; `delay_seconds` comes first, then `after`.

    A `silent` one never comes while the server stands.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False
    delay_seconds: float = 0.0
    after: Callable[[], object] = bool
    silent: bool = False


def completion(
    text: str, usage: dict[str, Any] | None = None, finish_reason: str = "stop", logprobs: Any = None
) -> Play:
    """A well-formed chat completion; `usage` None leaves the token counts out."""
    body: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason},
        ],
    }
    if logprobs is not None:
        body["choices"][0]["logprobs"] = logprobs
    if usage is not None:
        body["usage"] = usage
    return Play(json.dumps(body).encode())


def continuation(text: str, usage: dict[str, Any] | None = None, logprobs: Any = None) -> Play:
    """A well-formed text completion."""
    choice = {"index": 0, "text": text, "logprobs": logprobs, "finish_reason": "stop"}
    return Play(json.dumps({"object": "text_completion", "choices": [choice], "usage": usage}).encode())


def failure(
    status: int,
    message: str = "no",
    headers: dict[str, str] | None = None,
    code: str | None = None,
    param: str | None = None,
) -> Play:
    """An error in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "test", "code": code, "param": param}}).encode()
    return Play(body, status, headers or {})


Reaction = Callable[[dict[str, Any]], Play]


class ChatServer:
    """Plays `plays` in order, the last one again and again, or what a reaction makes of a request; keeps requests."""

    def __init__(self, plays: list[Play] | Reaction, models: Play) -> None:
        self._plays = plays
        self._models = models
        self._lock = threading.Lock()
        self._in_flight = 0
        self.most_in_flight = 0
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.base_url = ""
        self.closing = threading.Event()

    def next_play(self, path: str, key: str | None, body: bytes) -> Play:
        with self._lock:
            self.keys.append(key)
            if path.endswith("/models"):
                return self._models
            self.requests.append(json.loads(body))
            self.paths.append(path)
            if callable(self._plays):
                return self._plays(self.requests[-1])
            return self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1


@contextmanager
def serving(
    *plays: Play, models: Play = Play(b'{"data": []}'), reaction: Reaction | None = None
) -> Iterator[ChatServer]:
    """A running server; `plays` or `reaction` answer the completions, `models` every GET."""
    state = ChatServer(reaction or list(plays) or [completion("ok")], models)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(b"")

        def do_POST(self) -> None:
            self._respond(self.rfile.read(int(self.headers["Content-Length"])))

        def _respond(self, body: bytes) -> None:
            with state.counted():
                play = state.next_play(self.path, self.headers["Authorization"], body)
                time.sleep(play.delay_seconds)
                play.after()
                if play.silent:
                    state.closing.wait()
                if play.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    return
            self.send_response(play.status)
            for name, value in ({"Content-Type": "application/json"} | play.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(play.body)))
            self.end_headers()
            self.wfile.write(play.body)

        def log_message(self, format: str, *args: object) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            return  # a broken connection is what some tests ask for

    with Server(("127.0.0.1", 0), Handler) as server:
        state.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.closing.set()
            server.shutdown()
            thread.join()
