"""`arena index build | info | verify`: the index that a run with the same settings will open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.config import load_config
from arena.datasets import load_dataset
from experiments.run.equipment import chunking_of, embedder_of, engine_of, index_root, ready_index
from experiments.terminal.progress import Reporter

Row = Mapping[str, str | int | float | None]


def build(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Path:
    """Make sure that the index is there and whole, and say where."""
    from indexing.build import index_folder

    settings = load_config(config, options)
    documents = load_dataset(settings.dataset).documents
    embedder = embedder_of(settings, reporter)
    ready_index(settings, documents, embedder, reporter, thorough=True).close()
    return index_folder(index_root(), documents, embedder, engine=engine_of(settings), chunking=chunking_of(settings))


def verify(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Sequence[str]:
    """Everything that is wrong with the index of these settings, one line each; empty for a sound one."""
    from indexing.build import index_folder
    from indexing.verify import verify_index

    settings = load_config(config, options)
    documents = load_dataset(settings.dataset).documents
    embedder = embedder_of(settings, reporter, cached=False)  # to embed the samples again, not to read them back
    engine, chunking = engine_of(settings), chunking_of(settings)
    folder = index_folder(index_root(), documents, embedder, engine=engine, chunking=chunking)
    return verify_index(folder, documents, chunking=chunking, embedder=embedder, engine=engine)


def info_rows() -> list[Row]:
    """One row per index in the cache folder."""
    from indexing.verify import list_indexes

    return [
        {
            "folder": str(info.folder),
            "model": str(info.manifest.identity.embedder.get("model", "")),
            "chunking": str(info.manifest.identity.chunking.get("method", "")),
            "engine": f"{info.manifest.identity.engine} {info.manifest.identity.engine_version}",
            "documents": info.manifest.documents,
            "passages": info.manifest.passages,
            "truncated_passages": info.manifest.truncated_passages,
            "search": str(info.manifest.identity.search.get("search", "")),
            "recall_at_10": info.manifest.recall_at_10,
            "disk_bytes": info.disk_bytes,
        }
        for info in list_indexes(index_root())
    ]


def info_table(rows: Sequence[Row]) -> Table:
    """The rows for a terminal."""
    table = Table("index", "model", "chunking", "engine", "search", "documents", "passages", "cut short", "size")
    for row in rows:
        size = f"{float(row['disk_bytes'] or 0) / 1e6:.0f} MB"
        recall = row["recall_at_10"]
        search = row["search"] if recall is None else f"{row['search']}, recall@10 {recall:.3f}"
        named = (Path(str(row["folder"])).name, row["model"], row["chunking"], row["engine"], search)
        counts = (row["documents"], row["passages"], row["truncated_passages"])
        table.add_row(*(Text(str(value)) for value in (*named, *counts, size)))
    if rows:
        table.caption = f"in {Path(str(rows[0]['folder'])).parent}"
    return table
