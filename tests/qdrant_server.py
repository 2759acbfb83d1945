"""A Qdrant server for tests: the REST calls that the engine makes, answered by the client's local mode in memory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models

COLLECTION = re.compile(r"/collections/([^/?]+)(/[^?]*)?")


class QdrantServer(ThreadingHTTPServer):
    """Remembers every search parameter it was sent; answers 401 without the right key.

    `indexed`: how many vectors its graph holds, one number for each time it is asked, then all of them.
    """

    daemon_threads = True

    def __init__(self, api_key: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_key = api_key
        self.store = QdrantClient(":memory:")
        self.searches: list[models.SearchParams | None] = []
        self.patches: list[dict[str, Any]] = []
        self.indexed: list[int] = []
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, method: str, name: str, rest: str, body: Any) -> Any:
        """The `result` of one call."""
        match method, rest:
            case "PUT", "":
                asked = models.CreateCollection(**body)
                return self.store.create_collection(
                    name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
                )
            case "GET", "":
                state = json.loads(self.store.get_collection(name).model_dump_json())
                return {
                    **state,
                    "indexed_vectors_count": self.indexed.pop(0) if self.indexed else state["points_count"],
                }
            case "GET", "/exists":
                return {"exists": self.store.collection_exists(name)}
            case "DELETE", "":
                return self.store.delete_collection(name)
            case "PATCH", "":
                self.patches.append(body)
                return True
            case "PUT", "/points":
                self.store.upsert(name, [models.PointStruct(**point) for point in body["points"]])
                return {"operation_id": 0, "status": "completed"}
            case "POST", "/points/count":
                return {"count": self.store.count(name).count}
            case "POST", "/points/query/batch":
                requests = [models.QueryRequest(**request) for request in body["searches"]]
                answers = self.store.query_batch_points(name, [self._without_params(one) for one in requests])
                return [json.loads(answer.model_dump_json()) for answer in answers]
        raise NotImplementedError(f"{method} {rest}")

    def _without_params(self, request: models.QueryRequest) -> models.QueryRequest:
        """Local mode warns about parameters of an index, which it does not have."""
        prefetches = request.prefetch if isinstance(request.prefetch, list) else []
        self.searches += [one.params for one in prefetches] if prefetches else [request.params]
        bare = [one.model_copy(update={"params": None}) for one in prefetches]
        return request.model_copy(update={"params": None, "prefetch": bare or None})


class _Handler(BaseHTTPRequestHandler):
    server: QdrantServer

    def _respond(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        found = COLLECTION.match(self.path)
        if found is None:
            self._send(404, {"error": "not here"})
            return
        if self.server.api_key not in (None, self.headers.get("api-key")):
            self._send(401, {"status": {"error": "Must provide an API key"}, "time": 0.0})
            return
        with self.server.turn:
            result = self.server.answer(self.command, found[1], found[2] or "", body)
        self._send(200, {"result": result, "status": "ok", "time": 0.0})

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _respond  # noqa: N815

    def _send(self, status: int, content: object) -> None:
        payload = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def qdrant_server(api_key: str | None = None) -> Iterator[QdrantServer]:
    """A running server on the loopback interface."""
    server = QdrantServer(api_key)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        server.store.close()
