"""The identity of a run and of each of its cells: everything that can change a result.

The code of a strategy is one hash over its modules and all that they import of the same package.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from arena.config import RunConfig, SystemConfig, fingerprint
from arena.files import file_sha256
from arena.plan import RunPlan
from arena.store.runs import IMPORTED, SYSTEM
from arena.types import Cell
from experiments.execution.callers import load_function
from experiments.execution.contestants import Entries
from experiments.execution.equipment import Equipment
from indexing.retriever import MODES
from strategies import ENTRY_POINTS, STRATEGIES, StrategySpec, find_strategy


def code_sha256(spec: StrategySpec) -> str:
    """Changes with any source line that the strategy's graph or parameters are made by, and with no other strategy's.

    What a module imports from its own top-level package counts; other packages have versions.
    """
    build = spec.build
    while isinstance(build, partial):
        build = build.func
    return modules_sha256({build.__module__, spec.params.__module__}) or hashlib.sha256().hexdigest()


def modules_sha256(modules: set[str]) -> str | None:
    """Of the source of these imported modules and all that they import of their own packages; None: there is none."""
    reached = _reached(modules)
    if not reached:
        return None
    digest = hashlib.sha256()
    for name, text in sorted(reached.items()):
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def _reached(modules: set[str]) -> dict[str, bytes]:
    """Module -> source, of `modules` and all that they import of their own packages."""
    found: dict[str, bytes] = {}
    waiting = sorted(modules)
    while waiting:
        name = waiting.pop()
        path = None if name in found else _source(name)
        if path is not None:
            found[name] = path.read_bytes()
            waiting += _imported(found[name], name, is_package=path.name == "__init__.py")
    return found


def _source(name: str) -> Path | None:
    """Where a module's source is; None for a name that is no module, or has none."""
    top, *rest = name.split(".")
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return None
    package = Path(file).parent
    places = (
        [package.joinpath(*rest, "__init__.py"), package.joinpath(*rest).with_suffix(".py")] if rest else [Path(file)]
    )
    return next((place for place in places if place.is_file()), None)


@cache
def _imported(source: bytes, name: str, *, is_package: bool) -> tuple[str, ...]:
    """The modules of its own top-level package that a module may import, at any place in it."""
    top = name.split(".")[0]
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = name.split(".") if is_package else name.split(".")[:-1]
            base = ".".join(here[: len(here) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            targets = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        found += (target for target in targets if target.split(".")[0] == top)
    return tuple(found)


_EXTENT = ("dataset", "strategies", "strategy_params", "modes", "sample")
"""Settings whose effect is in the plan, the cells or the dataset's own fingerprint."""

_MOST_HASHED_BYTES = 10_000_000
"""Of a file that a command names: larger ones are data, and hashing them would hold up every start."""

EXTERNAL_PARAMS = frozenset({"external_corpus", "external_tool"})
"""Parameters of a cell that searches the external source (`experiments.execution.extras`)."""

_PARTS = ("model", "model_sha256", "index", "reranker", "external")
"""Parts of an identity that only some cells depend on; None where no cell does."""


def identity(
    config: RunConfig, entries: Entries, equipment: Equipment | None, model_sha256: str | None
) -> dict[str, Any]:
    """The settings that all records of a run are made under, by part. Which cells and questions: see the plan."""
    fields = {name: value for name, value in config.fingerprint_fields().items() if name not in _EXTENT}
    model, external = fields.pop("llm"), fields.pop("external")
    reranking = equipment.reranking if equipment else None
    return {
        "dataset": entries.dataset.fingerprint,
        "config": fields,
        "arena": version_of("rag-strategy-arena"),
        "model": model if entries.needs_model else None,
        "model_sha256": model_sha256,
        "index": dict(equipment.index_identity) if equipment else None,
        "reranker": dict(reranking.identity) | {"threshold": reranking.threshold} if reranking else None,
        "external": external if any(one.uses_external for one in entries.variants) else None,
        "contestants": {one.spec.name: contestant_identity(one.spec) for one in entries.variants}
        | {one.name: system_identity(one.name, one.settings) for one in entries.systems},
    }


def line_fingerprints(identity_fields: Mapping[str, Any], plan: RunPlan) -> dict[str, str]:
    """Cell key -> the settings its records are made under, in one word.

    It changes with nothing that the cell does not depend on, so that cells can be added to a run, or one strategy's
    code be changed in a run without it, and the lines of all others stay valid.
    """
    cells = (planned.cell for planned in plan.cells)
    return {cell.key: fingerprint("line", _fields_of(cell, identity_fields)) for cell in cells}


def run_fingerprint(identity_fields: Mapping[str, Any], plan: RunPlan) -> str:
    """Settings and plan in one word; the same for all shards of a run."""
    planned = {name: value for name, value in plan.to_json().items() if name != "shard"}
    return fingerprint("run", {"identity": dict(identity_fields), "plan": planned})


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`place: old -> new` for every setting that the records of a run were made under and that is now another.

    A part that only one of them has belongs to cells that only one of them has: that is for the plans to compare.
    """
    both = {name: old[name] for name in old if name not in _PARTS or None not in (old[name], new.get(name))}
    if old.get("model") is None:
        both.pop("model_sha256", None)
    known = {name: fields for name, fields in old["contestants"].items() if name in new["contestants"]}
    now = {name: new["contestants"][name] for name in known}
    return differences(both | {"contestants": known}, {name: new.get(name) for name in both} | {"contestants": now})


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """`place: old -> new` for every field in which two identities differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted({*old, *new})
        return [line for key in keys for line in differences(old.get(key), new.get(key), f"{place}.{key}".lstrip("."))]
    return [] if old == new else [f"{place}: {old!r} -> {new!r}"]


@cache
def version_of(distribution: str) -> str | None:
    """The installed version of a distribution; None if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def contestant_identity(spec: StrategySpec) -> dict[str, Any]:
    """Code, prompts and origin of a strategy."""
    prompts = spec.prompts_sha if spec.needs_model else None
    return {"code": code_sha256(spec), "prompts": prompts, "evidence": spec.evidence, "plugin": _plugin(spec)}


def system_identity(name: str, settings: SystemConfig) -> dict[str, Any]:
    """All that is known to tell one state of a system from another.

    `version` is what the user says; without one, `code` is the SHA-256 of a function's own package, or of the files
    that a command names. With neither, nothing tells whether the system is still what it was.
    """
    code = None
    if settings.version is None and settings.python is not None:
        code = _package_sha256(settings.python, name)
    elif settings.version is None and settings.command is not None:
        code = _files_sha256(settings.command)
    return {SYSTEM: settings.typed, "version": settings.version, "code": code}


def is_unversioned(identity: Mapping[str, Any]) -> bool:
    """Whether nothing tells that a system has changed."""
    return SYSTEM in identity and identity["version"] is None and identity["code"] is None


def _package_sha256(path: str, name: str) -> str | None:
    load_function(name, path)  # a module is found where it was imported from
    return modules_sha256({path.partition(":")[0]})


def _files_sha256(words: Sequence[str]) -> str | None:
    digest = hashlib.sha256()
    found = False
    for word in words:
        path = Path(word)
        try:
            if path.is_file() and path.stat().st_size <= _MOST_HASHED_BYTES:
                digest.update(f"{path.name}\0{file_sha256(path)}\0".encode())
                found = True
        except (OSError, ValueError):
            continue
    return digest.hexdigest() if found else None


def _plugin(spec: StrategySpec) -> str | None:
    """Distribution and version that a strategy came with (None: it is one of our own)."""
    if spec.name in STRATEGIES:
        return None
    points = [point for point in entry_points(group=ENTRY_POINTS) if point.name == spec.name and point.dist]
    return next((f"{point.dist.name} {point.dist.version}" for point in points if point.dist), None)


def _fields_of(cell: Cell, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a run's identity that one cell depends on."""
    shared = {name: fields[name] for name in ("dataset", "config", "arena")}
    contestant = fields["contestants"][cell.strategy]
    if IMPORTED in contestant or SYSTEM in contestant:
        return shared | {"contestant": contestant}
    spec, mode = find_strategy(cell.strategy), cell.retrieval_mode
    retrieves = spec.evidence == "index"
    used = {
        "model": spec.needs_model,
        "model_sha256": spec.needs_model,
        "index": retrieves,
        "reranker": retrieves and mode in MODES and MODES[mode].reranked,
        "external": bool(EXTERNAL_PARAMS & cell.params.keys()),
    }
    parts = {name: fields[name] for name in _PARTS if used[name]}
    return shared | parts | {"contestant": contestant}
