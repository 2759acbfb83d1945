"""Where a page's figures come from, and the contestants beside their papers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.leaderboard.build import Leaderboard
from arena.report.figures import Phrase, Quotes, path_of, ratio_text
from arena.report.names import Mark
from arena.report.section import Entry, Grid
from arena.report.source import PaperComparison, StrategyCard


def provenance(board: Leaderboard, manifest: Mapping[str, Any], commands: Sequence[str]) -> dict[str, Any]:
    """`facts`: (what, which); `commands`; `config`, `identity`, `libraries`: as text, empty where there are none."""
    written = {name: _written(manifest.get(name)) for name in ("config", "identity", "libraries")}
    return {"facts": tuple(_facts(board, manifest)), "commands": tuple(commands), **written}


def _facts(board: Leaderboard, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Phrase]]:
    quotes = Quotes(board)
    yield "run", (quotes.quote("as_is", "run_id"), ", settings ", quotes.quote("as_is", "fingerprint"))
    name, asked, documents, fingerprint = quotes.row(
        "dataset", "as_is name", "count n_questions", "count n_documents", "as_is fingerprint"
    )
    yield "data", (name, ": ", asked, " questions over ", documents, " documents, ", fingerprint)
    models = sorted({cell.llm for cell in board.cells if cell.llm})
    yield "model", (", ".join(models) or "none",)
    if board.judges:
        yield "judge", (", ".join(sorted({card.judge for card in board.judges})),)
    yield from _manifest_facts(manifest)
    if board.prices:
        own = f"; own prices for {', '.join(board.prices.own)}" if board.prices.own else ""
        source, day = quotes.row("prices", "as_is source", "as_is as_of")
        yield "prices", (source, ", of ", day, own)


def _manifest_facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Phrase]]:
    identity = manifest.get("identity") or {}
    for name, at in (("embedder", ("index", "embedder", "model")), ("index", ("index", "engine")),
                     ("reranker", ("reranker", "model"))):  # fmt: skip
        if found := _at(identity, at):
            yield name, (str(found),)
    if retrieval := _at(identity, ("config", "retrieval")):
        yield "retrieval", (", ".join(f"{name} {value}" for name, value in retrieval.items() if value is not None),)
    ended = f", finished {manifest['finished']}" if manifest.get("finished") else ""
    yield "time", (f"started {manifest.get('started')}{ended}",)
    if machine := manifest.get("machine"):
        memory = machine.get("memory_bytes")
        parts = (machine.get("processor"), f"{machine.get('cores')} cores", machine.get("system"),
                 f"{memory / 2**30:.0f} GiB of memory" if memory else None, *(machine.get("gpus") or ()))  # fmt: skip
        yield "machine", (", ".join(str(part) for part in parts if part),)
    if git := manifest.get("git"):
        yield "code", (f"commit {git.get('commit')}{' with changes' if git.get('dirty') else ''}",)


def _at(tree: Mapping[str, Any], keys: Sequence[str]) -> Any:
    found: Any = tree
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _written(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) if content else ""


_INSIDE = {True: "inside our interval", False: "outside our interval", None: ""}
RATIO = "ratio"


def card_views(board: Leaderboard, marks: Sequence[Mark], cards: Sequence[StrategyCard]) -> tuple[dict[str, Any], ...]:
    """Each `card` with its `grid`; `ran_at`: (cell, the tier that its judgements were of), where it has one."""
    tiers = [(mark, tier) for mark in marks if (tier := board.cells[mark.place].fidelity_tier)]
    return tuple(
        {
            "card": card,
            "ran_at": [(mark, tier) for mark, tier in tiers if mark.strategy == card.strategy],
            "grid": Grid(("the paper says", "here", "how, or why not"), card.clauses, n_names=3),
        }
        for card in cards
    )


def papers_grid(board: Leaderboard, marks: Sequence[Mark], papers: Sequence[PaperComparison]) -> Grid | None:
    """A row per published figure; None where there is none for this data."""
    if not papers:
        return None
    quotes = Quotes(board)
    places = {cell.cell: place for place, cell in enumerate(board.cells)}
    headings = ("paper", "system", "metric", "published", "our cell", "ours", "standing", "what differs")
    rows = tuple(_row(one, places, marks, quotes) for one in papers)
    return Grid(headings, rows, n_names=3)


def _row(one: PaperComparison, places: dict[str, int], marks: Sequence[Mark], quotes: Quotes) -> tuple[Entry, ...]:
    place = places.get(one.cell or "")
    ours: Entry = "\N{EN DASH}"
    if one.ours is not None and place is not None:
        metric = next((name for name, found in quotes.board.cells[place].metrics.items() if found == one.ours), None)
        ours = (
            quotes.quote("metric", path_of("cells", place, "metrics", metric)) if metric else ratio_text(one.ours.mean)
        )
    inside = _INSIDE[one.inside]
    doubt = f"doubted: {one.suspicious}" if one.suspicious else ""
    return (
        f"{one.paper}, {one.table}",
        f"{one.system} on {one.dataset}",
        one.metric,
        ratio_text(one.published) if one.unit == RATIO else f"{one.published:g} {one.unit}",
        marks[place] if place is not None else "\N{EN DASH}",
        ours,
        "; ".join(filter(None, (one.badge, inside, doubt))),
        "; ".join(one.differs) or "nothing that is known",
    )
