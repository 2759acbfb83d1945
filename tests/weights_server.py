"""A model hub and a package index on the loopback interface, with the bad habits of real ones on request."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from indexing.sources import HubRepo, WeightFile, Weights, Wheel

CONTENT = {"weights.bin": bytes(range(256)) * 400, "nested/config.json": b'{"width": 3}'}
"""The files of the pretended model."""


def pretended(content: Mapping[str, bytes] = CONTENT) -> Weights:
    """Weights made of `content`, pinned, in a wheel and on a hub."""
    files = tuple(WeightFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in content.items())
    wheel = Wheel("pretended-model", "1.0", "pretended_model-1.0-py3-none-any.whl", "pretended_model/")
    return Weights("pretended", "testing", "CC0-1.0", files, HubRepo("someone/pretended", "abc123"), wheel)


def wheel_of(content: Mapping[str, bytes]) -> bytes:
    """A wheel that pip accepts, stored uncompressed, with the model inside."""
    packed = io.BytesIO()
    info = "pretended_model-1.0.dist-info"
    with zipfile.ZipFile(packed, "w") as archive:
        for path, data in content.items():
            archive.writestr(f"pretended_model/{path}", data)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: pretended-model\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return packed.getvalue()


@dataclass
class Shop:
    """What is served, and what was asked for."""

    url: str
    pages: dict[str, bytes] = field(default_factory=dict)
    at_most: int | None = None
    """Bytes of a body after which the connection breaks, each time."""
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """(path, Range header) of every request."""

    def index(self, wheel: bytes) -> str:
        """Offer a wheel in a package index (PEP 691) and give the index's URL."""
        name = "pretended_model-1.0-py3-none-any.whl"
        file = {"filename": name, "url": f"../../files/{name}", "hashes": {}}
        page = {"meta": {"api-version": "1.1"}, "name": "pretended-model", "files": [file]}
        self.pages["/simple/pretended-model/"] = json.dumps(page).encode()
        self.pages[f"/files/{name}"] = wheel
        return f"{self.url}/simple"

    def hub(self, content: Mapping[str, bytes]) -> str:
        """Offer files as a model hub does and give its URL."""
        self.pages |= {f"/someone/pretended/resolve/abc123/{path}": data for path, data in content.items()}
        return self.url


@contextmanager
def serving() -> Iterator[Shop]:
    """A shop on a free port, closed at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.shop = Shop(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.shop  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        shop: Shop = self.server.shop  # type: ignore[attr-defined]
        wanted = self.headers.get("Range")
        shop.asked.append((self.path, wanted))
        body = shop.pages.get(self.path)
        if body is None:
            self.send_error(404)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and shop.ranges else 0  # type: ignore[index]
        if start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        json_page = self.path.startswith("/simple/")
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json" if json_page else "application/x-wheel")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        cut = None if json_page or shop.at_most is None else start + shop.at_most
        self.wfile.write(body[start:cut])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
