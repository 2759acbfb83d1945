"""Every dry run, over an encoder that counts: nothing is embedded, and no index is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.bm25 import Bm25
from indexing.embedding.embedder import LaneEmbedder
from tests.counting_encoder import CountingEncoder
from tests.integration.conftest import Arena
from tests.integration.test_sweep import sweep_of


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingEncoder:
    """Stands for every embedding model."""
    encoder = CountingEncoder()
    monkeypatch.setattr("indexing.embedding.opening.open_embedder", lambda *_, **__: LaneEmbedder(encoder, Bm25()))
    return encoder


def test_a_dry_run_embeds_nothing(arena: Arena, study: Path, counting: CountingEncoder, tmp_path: Path) -> None:
    options = ["--strategies", "vanilla,corrective,ircot", "--modes", "dense,hybrid", "--set", "chunking.tokens=4"]
    judge = ["--judge", "fake:", "--set", "judge.metrics=[answer_accuracy, answer_relevancy]"]
    done = arena("run", study, *options, *judge, "--dry-run", "--json")
    assert done.code == 0, done.err
    assert counting.asked == []
    cells = json.loads(done.out)["cells"]
    assert len(cells) == 6
    assert all(cell["n_failed"] == 0 and cell["input_tokens"] > 0 for cell in cells)


def test_a_dry_sweep_counts_chunks_and_embeds_none(
    arena: Arena, study: Path, counting: CountingEncoder, tmp_path: Path
) -> None:
    more = "strategies: [vanilla]\nmodes: [dense]\nchunking: {tokens: 8}\nretrieval: {k: 3}\n"
    done = arena("sweep", sweep_of(study, "  factors: {chunking.tokens: [2, 4, 8]}\n", more), "--dry-run", "--json")
    assert done.code == 0, done.err
    assert counting.asked == []
    tokens = [point["cells"][0]["tokens"] for point in json.loads(done.out)["points"]]
    assert len(set(tokens)) == 3  # of prompts with three passages of each size
    assert not (tmp_path / "runs").exists()


def test_a_dry_equalize_embeds_nothing(arena: Arena, study: Path, counting: CountingEncoder, tmp_path: Path) -> None:
    done = arena(
        "equalize", study, "--strategies", "vanilla,ircot", "--modes", "hybrid", "--llm", "fake:", "--target", "900",
        "--dry-run", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert counting.asked == []
    assert not (tmp_path / "runs").exists()
