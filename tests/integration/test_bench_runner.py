"""`arena bench runner`, on little."""

from __future__ import annotations

from pathlib import Path

from arena.config import EmbeddingConfig
from experiments.bench.runs import measure_resume, measure_runner


def test_its_figures_are_of_the_run_that_it_says(jsonl_folder: Path, tiny_embedder: Path) -> None:
    said: list[str] = []
    figures = measure_runner(
        24, dataset=f"jsonl:{jsonl_folder}", embedding=EmbeddingConfig(model=str(tiny_embedder)), say=said.append
    )
    assert (figures["answers"], figures["records"]) == (10, 24)
    assert figures["ideal_seconds"] == 10 * 0.2 / 16
    efficiency = figures["efficiency"]
    assert isinstance(efficiency, float)
    assert 0.0 < efficiency < 1.0
    assert len(said) == 4


def test_a_resumed_run_is_measured_whole_and_in_its_first_tenth() -> None:
    figures = measure_resume(120)
    for name in ("raw_read_seconds", "resume_seconds", "stream_seconds", "peak_memory_mb"):
        assert f"{name}_tenth" in figures
        value = figures[name]
        assert isinstance(value, float)
        assert value > 0.0
