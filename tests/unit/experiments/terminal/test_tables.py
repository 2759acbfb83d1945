from __future__ import annotations

import io

from rich.console import Console, RenderableType

from arena.datasets.table import describe
from arena.types import Dataset
from experiments.bench import bench_table
from experiments.terminal.tables import info_table, models_text
from indexing.sources import known_weights


def drawn(table: RenderableType, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def test_counts_cannot_be_taken_for_names(dataset: Dataset) -> None:
    text = drawn(info_table(describe(dataset)), 200)
    assert "1 hop: 2, 2 hops: 1" in text
    assert "multi_hop: 1, single_hop: 2, summary: 1, unanswerable: 1" in text


def test_every_model_is_listed_with_how_to_get_it() -> None:
    text = models_text()
    assert all(f"\n{name}  (" in f"\n{text}" for name in known_weights())
    assert text.count("arena models fetch") == len(known_weights())


def test_figures_of_a_bench_keep_their_names() -> None:
    text = drawn(bench_table("world", {"make_seconds": 1.23456, "documents": 21100, "violations": None}), 80)
    assert "1.235" in text
    assert "make_seconds" in text
