from __future__ import annotations

import io
import socket
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.errors import ConfigError
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from experiments.views.serve.app import address_of, build_app, is_loopback, listening, names_of, serve_runs


def test_a_port_in_use_names_another_that_is_free() -> None:
    with listening("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"port {port} of 127.0.0.1 is in use: take --port \d+") as refused:
            listening("127.0.0.1", port)
        other = int(str(refused.value).rpartition(" ")[2])
        with listening("127.0.0.1", other) as free:
            assert free.getsockname()[1] == other or other == 0


def test_an_address_that_is_not_this_machines_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"cannot listen on port 0 of '127.0.0.1.2'.*check --host and --port"):
        listening("127.0.0.1.2", 0)


@pytest.mark.parametrize(
    ("host", "only_here"),
    [("127.0.0.1", True), ("127.0.0.2", True), ("127.1", True), ("localhost", True), ("0.0.0.0", False), ("0", False)],
)
def test_what_can_be_reached_from_this_machine_alone(host: str, only_here: bool) -> None:
    with listening(host, 0) as bound:
        assert is_loopback(bound) is only_here


@pytest.mark.parametrize("host", ["127.0.0.2", "127.1"])
def test_a_server_answers_to_the_address_it_was_given(tmp_path: Path, host: str) -> None:
    with listening(host, 0) as bound:
        app = build_app(tmp_path, loopback=is_loopback(bound), hosts=names_of(bound, host))
        for name in (host, bound.getsockname()[0], "localhost"):
            assert TestClient(app, base_url=f"http://{name}:8000").get("/").status_code == 200
        assert TestClient(app, base_url="http://evil.example").get("/").status_code == 403


@pytest.mark.parametrize("host", ["", " "])
def test_no_address_is_none(host: str) -> None:
    with pytest.raises(ConfigError, match="--host is empty"):
        listening(host, 0)


def test_an_address_is_what_a_browser_takes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        assert address_of(bound, "127.0.0.1") == f"http://127.0.0.1:{port}/"
        assert address_of(bound, "::1") == f"http://[::1]:{port}/"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no folder"):
        serve_runs(tmp_path / "none", "127.0.0.1", 0, Reporter(Console(file=io.StringIO())))
