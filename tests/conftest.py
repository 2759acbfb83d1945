"""What every test may use. The network is blocked by pytest-socket; only the loopback interface is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.types import Dataset
from tests.samples import small_dataset


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache, keys or tracking server."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def dataset() -> Dataset:
    """Four documents and five questions, one of each kind."""
    return small_dataset()


@pytest.fixture
def jsonl_folder(tmp_path: Path) -> Path:
    """The small dataset as a user's own JSON lines."""
    from arena.datasets.jsonl import write_jsonl

    folder = tmp_path / "data"
    write_jsonl(small_dataset(), folder)
    return folder
