from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from arena.errors import TrackingError
from arena.tracking.database import local_uri, shown
from arena.tracking.server import opened


@pytest.fixture
def closed_port() -> int:
    """A port of the loopback interface that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def refusing_server() -> Iterator[str]:
    """A server that closes every connection without a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.listen()

        def refuse() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_the_local_store_is_beside_the_runs(tmp_path: Path) -> None:
    assert local_uri(tmp_path) == f"sqlite:///{tmp_path.resolve()}/mlflow.db"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://me:secret@mlflow.example.org:5000/a?b=c", "https://mlflow.example.org:5000/a?b=c"),
        ("postgresql://me:secret@db/mlflow", "postgresql://db/mlflow"),
        ("sqlite:////runs/mlflow.db", "sqlite:////runs/mlflow.db"),
        ("postgresql://me:sec/ret@db/mlflow", "postgresql://db/mlflow"),
        ("mysql+pymysql://db/mlflow?password=secret&ssl=1", "mysql+pymysql://db/mlflow?password=***&ssl=1"),
        ("cannot use https://me:secret@db/x, nor http://a", "cannot use https://db/x, nor http://a"),
        ("databricks", "databricks"),
    ],
)
def test_a_password_is_never_shown(uri: str, expected: str) -> None:
    assert shown(uri) == expected


class Unwilling(BaseHTTPRequestHandler):
    """Answers, and has nothing."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *of: object) -> None:
        pass


def test_a_server_whose_address_holds_a_password_is_asked(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Unwilling) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        uri = f"http://me:secret@127.0.0.1:{server.server_port}"
        with pytest.raises(TrackingError) as refused, opened(tmp_path, uri):
            pass
        server.shutdown()
    assert "no MLflow server answers" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_dead_server_is_named(tmp_path: Path, closed_port: int) -> None:
    with pytest.raises(TrackingError) as caught, opened(tmp_path, f"http://me:secret@127.0.0.1:{closed_port}"):
        pytest.fail("it was opened")
    assert f"no MLflow server answers at 'http://127.0.0.1:{closed_port}'" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_hangs_up_is_dead(tmp_path: Path, refusing_server: str) -> None:
    with pytest.raises(TrackingError, match="no MLflow server answers"), opened(tmp_path, refusing_server):
        pytest.fail("it was opened")


class Stranger(BaseHTTPRequestHandler):
    """A server that answers all with JSON of its own."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def log_message(self, *of: object) -> None:
        pass


def test_a_server_that_is_no_mlflow_is_called_one(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with (
            pytest.raises(TrackingError, match="is no MLflow server"),
            opened(tmp_path, f"http://127.0.0.1:{server.server_port}"),
        ):
            pytest.fail("it was opened")
        server.shutdown()
