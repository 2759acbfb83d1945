"""A hub of datasets on the loopback interface, whose lines may break."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from arena.datasets.hub import HubFile

COMMIT = "b" * 40


def hub_file(path: str, content: bytes, **changes: str | int | None) -> HubFile:
    """`content` as a pinned file of the repository that `serving` plays."""
    pinned = {"sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content), "revision": COMMIT}
    return HubFile("someone/questions", path, vouched="made by a test", **(pinned | changes))  # type: ignore[arg-type]


@dataclass
class Hub:
    """Where it is, what it holds, and what was asked of it."""

    url: str
    files: Mapping[str, bytes]
    at_most: int | None = None
    """Bytes of a body after which the connection breaks."""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """(method, path, Range header) of every request."""


@contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[Hub]:
    """The repository someone/questions with these files, at any revision."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.hub = Hub(f"http://127.0.0.1:{server.server_port}", files)  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.hub  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        hub: Hub = self.server.hub  # type: ignore[attr-defined]
        span = self.headers.get("Range")
        hub.asked.append((self.command, self.path, span))
        found = re.fullmatch(r"/datasets/someone/questions/resolve/[^/]+/(.+)", self.path)
        content = hub.files.get(found[1]) if found else None
        if content is None:
            self.send_error(404)
            return
        start = int(span.removeprefix("bytes=").partition("-")[0]) if span else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(content[start : None if hub.at_most is None else start + hub.at_most])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
