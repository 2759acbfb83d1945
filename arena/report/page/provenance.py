"""Where a page's figures come from: data, models, versions, machine, prices, and the commands that make them again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.report.leaderboard import Leaderboard
from arena.report.page.quoted import Phrase, Quotes, path_of


@dataclass(frozen=True, slots=True)
class Provenance:
    """`facts`: (what, which); `config`, `identity`, `libraries`: as text; `warnings`: of the manifest."""

    facts: tuple[tuple[str, Phrase], ...]
    commands: tuple[str, ...]
    config: str
    identity: str
    libraries: str


def provenance(board: Leaderboard, manifest: Mapping[str, Any], commands: Sequence[str]) -> Provenance:
    """A part that the manifest does not have is left out."""
    return Provenance(
        tuple(_facts(board, manifest)),
        tuple(commands),
        _written(manifest.get("config")),
        _written(manifest.get("identity")),
        _written(manifest.get("libraries")),
    )


def _facts(board: Leaderboard, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Phrase]]:
    quotes = Quotes(board)
    yield "run", (quotes.quote("as_is", "run_id"), ", settings ", quotes.quote("as_is", "fingerprint"))
    yield (
        "data",
        (
            quotes.quote("as_is", path_of("dataset", "name")),
            ": ",
            quotes.quote("count", path_of("dataset", "n_questions")),
            " questions over ",
            quotes.quote("count", path_of("dataset", "n_documents")),
            " documents, ",
            quotes.quote("as_is", path_of("dataset", "fingerprint")),
        ),
    )
    models = sorted({cell.llm for cell in board.cells if cell.llm})
    yield "model", (", ".join(models) or "none",)
    if board.judges:
        yield "judge", (", ".join(sorted({card.judge for card in board.judges})),)
    yield from _manifest_facts(manifest)
    if board.prices:
        own = f"; own prices for {', '.join(board.prices.own)}" if board.prices.own else ""
        yield (
            "prices",
            (
                quotes.quote("as_is", path_of("prices", "source")),
                ", of ",
                quotes.quote("as_is", path_of("prices", "as_of")),
                own,
            ),
        )


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
