from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.experiments.views.serve.served import client


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_all_but_reading_is_refused(tmp_path: Path, method: str) -> None:
    refused = client(tmp_path).request(method, "/")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_a_head_request_is_answered(tmp_path: Path) -> None:
    assert client(tmp_path).head("/").status_code == 200
    assert client(tmp_path).head("/api/runs").status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_this_machine_is_answered(tmp_path: Path, host: str) -> None:
    assert client(tmp_path).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "", "::1:80x"]
)
def test_a_name_that_was_led_here_is_not(tmp_path: Path, host: str) -> None:
    """DNS rebinding: the page of evil.example asks its own name, which now leads to this machine."""
    refused = client(tmp_path).get("/", headers={"host": host})
    assert refused.status_code == 403
    assert "<" not in refused.text


def test_beyond_the_loopback_interface_any_name_is_answered(tmp_path: Path) -> None:
    assert client(tmp_path, loopback=False).get("/", headers={"host": "lab.example:8000"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/live.js", "/runs/none"])
def test_every_reply_carries_the_policy(tmp_path: Path, path: str) -> None:
    headers = client(tmp_path).get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
