"""`arena index build | info | verify`: the index that a run with the same settings will open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.config import load_config
from arena.datasets import load_dataset
from experiments.equipment import chunking_of, embedder_of, engine_of, index_root
from experiments.progress import Reporter

Row = Mapping[str, str | int]


def build(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Path:
    """Make sure that the index is there and whole, and say where."""
    from indexing.build import ensure_index, index_folder

    settings = load_config(config, options)
    documents = load_dataset(settings.dataset).documents
    embedder = embedder_of(settings, reporter)
    engine, chunking = engine_of(settings), chunking_of(settings)
    with reporter.items(f"embedding {len(documents)} documents") as advance:
        index = ensure_index(
            documents,
            embedder,
            index_root(),
            engine=engine,
            chunking=chunking,
            thorough=True,
            keep_batches=False,  # the embedding cache has them
            progress=lambda done, total, label: advance(done, total or 0),
        )
    index.close()
    return index_folder(index_root(), documents, embedder, engine=engine, chunking=chunking)


def verify(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Sequence[str]:
    """Everything that is wrong with the index of these settings, one line each; empty for a sound one."""
    from indexing.build import index_folder
    from indexing.verify import verify_index

    settings = load_config(config, options)
    documents = load_dataset(settings.dataset).documents
    embedder = embedder_of(settings, reporter)
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
            "disk_bytes": info.disk_bytes,
        }
        for info in list_indexes(index_root())
    ]


def info_table(rows: Sequence[Row]) -> Table:
    """The rows for a terminal."""
    table = Table("index", "model", "chunking", "engine", "documents", "passages", "cut short", "size")
    for row in rows:
        size = f"{int(row['disk_bytes']) / 1e6:.0f} MB"
        named = (Path(str(row["folder"])).name, row["model"], row["chunking"], row["engine"])
        counts = (row["documents"], row["passages"], row["truncated_passages"])
        table.add_row(*(Text(str(value)) for value in (*named, *counts, size)))
    if rows:
        table.caption = f"in {Path(str(rows[0]['folder'])).parent}"
    return table
