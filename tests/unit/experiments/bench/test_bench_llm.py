from __future__ import annotations

import pytest

from experiments.bench.llm import measure_llm, memory_growth


def test_every_figure_is_measured() -> None:
    heard: list[str] = []
    figures = measure_llm(calls=40, memory_calls=60, timed=20, say=heard.append)
    assert len(heard) == 3
    milliseconds = {figure: value for figure, value in figures.items() if figure.endswith("_ms")}
    assert set(milliseconds) == {f"{name}_p{p}_ms" for name in ("overhead", "kept", "replayed") for p in (50, 95)}
    assert all(isinstance(value, float) and value > 0 for value in milliseconds.values())
    assert figures["ideal_seconds"] == 0.2
    efficiency = figures["efficiency"]
    assert isinstance(efficiency, float)
    assert 0 < efficiency <= 1


def test_memory_is_that_of_the_process_itself() -> None:
    figures = memory_growth(20)
    assert figures["memory_growth_mb"] == pytest.approx(0, abs=10)
    assert isinstance(figures["peak_memory_mb"], float)
    assert figures["peak_memory_mb"] > 20
    assert figures["memory_calls"] == 20
