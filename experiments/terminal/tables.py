"""Datasets, weights and measurements as tables for a terminal, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.config import cache_folder
from arena.datasets import DatasetEntry, dataset_entry, dataset_names
from arena.datasets.table import DatasetInfo
from experiments.terminal.console import Console


def datasets_table() -> Table:
    """Every dataset: how to write it, what it is, its licence and whom to cite."""
    table = Table("write", "what it is", "licence", "cite")
    for name in dataset_names():
        entry = dataset_entry(name)
        cite = entry.citation.short if entry.citation else "-"
        table.add_row(Text(entry.how_to_write), Text(entry.summary), Text(entry.licence), Text(cite))
    return table


def about_text(entry: DatasetEntry) -> str:
    """What is known of a dataset without its data: what it is, how to write it, whose it is and whom to cite."""
    lines = [entry.summary, f"write    {entry.how_to_write}", f"source   {entry.source}", f"licence  {entry.licence}"]
    return "\n".join([*lines, *(["cite", entry.citation.bibtex] if entry.citation else [])])


def info_facts(info: DatasetInfo, entry: DatasetEntry) -> dict[str, Any]:
    """The figures of a dataset and what is known of it without its data, for `as_json`."""
    about = {"summary": entry.summary, "source": entry.source, "licence": entry.licence}
    return asdict(info) | about | {"citation": asdict(entry.citation) if entry.citation else None}


def info_table(info: DatasetInfo) -> Table:
    """The figures of one dataset."""
    table = Table(title=Text(info.name), title_justify="left", show_header=False)
    for name, value in _info_rows(info):
        table.add_row(name, Text(value))
    return table


def print_notes(info: DatasetInfo, console: Console) -> None:
    """What a user of the dataset should know, below the table."""
    for note in info.notes:
        console.print(f"note: {note}", markup=False, highlight=False)


def models_text() -> str:
    """Every named weight in three lines: what it is, where it comes from, and where it is on this machine."""
    from indexing.weights import list_models

    blocks = []
    for listed in list_models(cache_folder("weights")):
        model = listed.model
        place = f"here    {listed.path}" if listed.path else f"absent  arena models fetch {model.name}"
        facts = f"{model.purpose}, {model.size_bytes / 1e6:,.0f} MB, {model.licence}"
        blocks.append(f"{model.name}  ({facts})\n    source  {model.source}\n    {place}")
    return "\n".join(blocks)


def as_json(value: Any) -> str:
    """A record or mapping as one JSON object."""
    return json.dumps(value if isinstance(value, Mapping) else asdict(value), indent=2, ensure_ascii=False)


def _info_rows(info: DatasetInfo) -> list[tuple[str, str]]:
    words = info.words
    rows = [
        ("documents", f"{info.n_documents:,}"),
        ("questions", f"{info.n_questions:,}"),
        ("by kind", _counts(info.by_kind)),
        ("by hops", _counts({f"{hops} hop{'s' * (hops != 1)}": count for hops, count in info.by_hops.items()})),
        ("by shape", _counts(info.by_shape)),
        (
            "titles shared by several documents",
            f"{info.homonym_titles:,}, on {info.documents_with_homonym_title:,} documents",
        ),
        ("questions with such a supporting document", f"{info.questions_with_homonym_support:,}"),
        ("questions with gold documents", "none" if info.gold_share is None else f"{info.gold_share:.1%}"),
        ("answers are compared", info.answers_compared),
        *([("questions in other scripts", f"{info.other_scripts:,}")] if info.other_scripts else []),
        *(("English only", what) for what in info.english_only),
        ("fingerprint", info.fingerprint),
    ]
    if words:
        span = (
            f"{words.minimum} to {words.maximum}, median {words.median:.0f}, mean {words.mean:.1f}, p95 {words.p95:.0f}"
        )
        rows.insert(7, ("words per document", span))
    return rows


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{key}: {count:,}" for key, count in counts.items()) or "not said"
