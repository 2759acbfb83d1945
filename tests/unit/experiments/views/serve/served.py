"""A server in this process over run folders made by hand."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from arena.store import RunStore
from experiments.views.serve.app import build_app


def said(store: RunStore) -> str:
    """Stands for the report: what it is of, and how many records it saw."""
    return f"<html>report of {store.run_id}: {sum(1 for _ in store.records())} records</html>"


def client(runs_dir: Path, *, loopback: bool = True) -> TestClient:
    """Asks as a browser on this machine does."""
    return TestClient(
        build_app(runs_dir, loopback=loopback, report_of=said, patience_seconds=None), base_url="http://127.0.0.1:8000"
    )
