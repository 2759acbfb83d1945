"""The command line in this process, over a tiny embedding model made on the spot and the product's own fake model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from experiments.cli.main import main
from tests.tiny_models import build_tiny_minilm


class Done(NamedTuple):
    code: int
    out: str
    err: str


Arena = Callable[..., Done]


@pytest.fixture
def arena(capfd: pytest.CaptureFixture[str]) -> Arena:
    """`arena("run", "--limit", "3")` -> exit code, stdout, stderr."""

    def call(*arguments: str | Path) -> Done:
        capfd.readouterr()
        try:
            main([str(argument) for argument in arguments])
            code: int | str | None = 0
        except SystemExit as stop:
            code = stop.code
        out, err = capfd.readouterr()
        return Done(int(code or 0), out, err)

    return call


@pytest.fixture(scope="session")
def tiny_embedder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_minilm(tmp_path_factory.mktemp("tiny") / "minilm")


@pytest.fixture
def study(tmp_path: Path, jsonl_folder: Path, tiny_embedder: Path) -> Path:
    """A config over the small dataset: every strategy and mode, the fake model, no MLflow."""
    return study_of(tmp_path, jsonl_folder, tiny_embedder)


def study_of(folder: Path, data: Path, embedder: Path) -> Path:
    """The same, for a fixture that many tests share: in `folder`, with its runs."""
    path = folder / "study.yaml"
    path.write_text(
        f"dataset: jsonl:{data}\nembedding: {{model: {embedder}}}\nllm: {{model: 'fake:'}}\n"
        f"runs_dir: {folder / 'runs'}\nmlflow: false\n",
        encoding="utf-8",
    )
    return path
