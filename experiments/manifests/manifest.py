"""What a run must remember to be understood, repeated, continued and verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.config import RunConfig, fingerprint
from arena.leaderboard.cells import price_source
from arena.store import RUNNING
from experiments.costs.spending import price_table
from experiments.manifests.machine import git_state, library_versions, machine
from experiments.setup.identity import line_fingerprints, run_fingerprint
from experiments.setup.prepared import Prepared

SCHEMA_VERSION = 2


def new_manifest(prepared: Prepared, started: str) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": RUNNING,
        "fingerprint": None,
        "started": started,
        "finished": None,
        **settled(prepared, started),
        "libraries": library_versions(),
        "machine": machine(),
        "git": git_state(),
        "sessions": [],
        "warnings": [],
    }


def settled(prepared: Prepared, started: str) -> dict[str, Any]:
    """The part of a manifest that settings, data and plan decide; it is written anew when a run is extended."""
    config, dataset, equipment, plan = prepared.config, prepared.lineup.dataset, prepared.equipment, prepared.plan
    second = equipment.second_index_facts if equipment else None
    return {
        "fingerprint": run_fingerprint(prepared.identity, plan),
        "config": config.model_dump(mode="json"),
        "identity": dict(prepared.identity),
        "lines": line_fingerprints(prepared.identity, plan),
        "shard": str(plan.shard) if plan.shard else None,
        "seeds": {"sample": config.seed, "bootstrap": config.seed, "model": config.llm.seed},
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "n_documents": len(dataset.documents),
            "n_questions": len(dataset.questions),
            "notes": list(dataset.notes),
        },
        "index": dict(equipment.index_facts) if equipment else None,
        **({"second_index": dict(second)} if second else {}),
        **prices_of(config, started),
    }


def prices_of(config: RunConfig, started: str) -> dict[str, Any]:
    """`prices`: what a run that was `started` then is priced by; `prices_fingerprint`: all of that in one word."""
    source = price_source(price_table(config, started)).model_dump(mode="json")
    own = {model: price.model_dump(mode="json") for model, price in config.prices.items()}
    return {"prices": source, "prices_fingerprint": fingerprint("prices", {"source": source, "own": own})}


def with_warnings(manifest: Mapping[str, Any], warnings: Iterable[str]) -> dict[str, Any]:
    """The manifest with these warnings beside those it has, each once."""
    return dict(manifest) | {"warnings": list(dict.fromkeys([*manifest.get("warnings", []), *warnings]))}
