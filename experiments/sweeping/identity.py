"""What the records of one cell depend on, in one word: where two points agree in it, one need not ask again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.config import RunConfig, fingerprint, validate_config
from arena.plan import PlannedCell, RunPlan
from arena.store import RunStore
from arena.types import Cell
from experiments.run.identity import line_fingerprints
from experiments.run.manifest import library_versions
from experiments.run.prepare import Prepared
from indexing.modes import DEPTH, MODES

CUT_STRATEGY = "retrieval_only"
"""Its records are hits and nothing that was made of them, so that fewer hits are a prefix of more."""

_SPEED = ("concurrency", "question_timeout_seconds")
_LLM_SPEED = (
    *("timeout_seconds", "max_attempts", "concurrency", "requests_per_minute", "tokens_per_minute"),
    *("breaker_failures", "cache"),
)


@dataclass(frozen=True, slots=True)
class CellIdentity:
    """A planned cell of one point. Whatever has the same `whole` has the same records.

    `but_k`: the same without the number of hits; None where a retrieval of k' < k hits is not known to be the first k'
    of one of k hits.
    """

    planned: PlannedCell
    whole: str
    but_k: str | None

    @property
    def k(self) -> int:
        """Hits wanted of a retrieval; of cells with a `but_k` only."""
        return int(self.planned.cell.params["k"] or 0)


def of_prepared(prepared: Prepared) -> tuple[CellIdentity, ...]:
    """The cells of a run that is about to be made, under the libraries of this process."""
    return _identities(prepared.config, prepared.identity, prepared.plan, library_versions())


def of_store(store: RunStore) -> tuple[CellIdentity, ...]:
    """The cells of a run as its folder has them. Raises `RunStoreError`, `ConfigError` where it is damaged."""
    manifest = store.manifest()
    config = validate_config(manifest["config"], f"run {store.run_id!r}")
    return _identities(config, manifest["identity"], store.plan(), manifest.get("libraries", {}))


def cuts(larger: CellIdentity, smaller: CellIdentity) -> bool:
    """Whether records of `smaller` are those of `larger` cut off: the engine is asked the very same, for more hits."""
    if larger.but_k is None or larger.but_k != smaller.but_k or larger.k <= smaller.k:
        return False
    mode = smaller.planned.cell.retrieval_mode
    return mode != "dense" or max(DEPTH, larger.k) == max(DEPTH, smaller.k)


def _identities(
    config: RunConfig, identity: Mapping[str, Any], plan: RunPlan, libraries: Mapping[str, Any]
) -> tuple[CellIdentity, ...]:
    own = {planned.cell.key: _beside(planned.cell, config) | {"libraries": dict(libraries)} for planned in plan.cells}
    lines = line_fingerprints(identity, plan)
    without = {name: value for name, value in identity["config"].items() if name != "retrieval"}
    loose = line_fingerprints(dict(identity) | {"config": without}, plan)
    found = []
    for planned in plan.cells:
        cell = planned.cell
        foreign = identity["contestants"][cell.strategy]["plugin"] is not None
        # A cell's parameters say how it retrieves. A foreign strategy may read the settings beside them.
        line = (lines if foreign else loose)[cell.key]
        fields = own[cell.key] | {"line": line}
        whole = fingerprint("records", fields | {"cell": cell.key})
        found.append(CellIdentity(planned, whole, _but_k(cell, fields, identity)))
    return tuple(found)


def _beside(cell: Cell, config: RunConfig) -> dict[str, Any]:
    """Settings that the identity of a run leaves out and that a record of this cell may still show."""
    fields: dict[str, Any] = {name: getattr(config, name) for name in _SPEED}
    if cell.llm is not None:
        fields["llm"] = config.llm.model_dump(mode="json", include=set(_LLM_SPEED))
    if "evaluator_model" in cell.params:
        fields["rerank"] = config.rerank.model_dump(mode="json")
    return fields


def _but_k(cell: Cell, fields: Mapping[str, Any], identity: Mapping[str, Any]) -> str | None:
    index = identity.get("index") or {}
    exact = index.get("search", {}).get("search") == "exact"
    if cell.strategy != CUT_STRATEGY or cell.retrieval_mode not in MODES or not exact:
        return None
    params = {name: value for name, value in cell.params.items() if name != "k"}
    return fingerprint("hits", dict(fields) | {"cell": replace(cell, params=params).key})
