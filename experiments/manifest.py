"""What a run must remember to be understood, repeated and continued."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

import strategies
from arena.config import RunConfig, fingerprint
from arena.report.spending import price_source
from arena.store import RUNNING
from arena.types import Dataset, RunRecord
from experiments.clock import now
from experiments.compose import Seat
from experiments.equipment import Equipment
from experiments.spending import price_table
from strategies import ENTRY_POINTS

LIBRARIES = (
    "rag-strategy-arena",
    "langgraph",
    "langchain-core",
    "langchain-openai",
    "qdrant-client",
    "qdrant-edge-py",
    "FlagEmbedding",
    "genai-prices",
    "tokenizers",
    "sentence-transformers",
    "transformers",
    "torch",
    "xllamacpp",
    "mlflow",
)


def identity(
    config: RunConfig, dataset: Dataset, seats: Sequence[Seat], equipment: Equipment | None, model_sha256: str | None
) -> dict[str, Any]:
    """Everything that can change a result. Two runs of equal identity may be joined; others may not."""
    sample = {seat.cell.key: [question.question_id for question in seat.questions] for seat in seats}
    reranking = equipment.reranking if equipment else None
    return {
        "config": config.fingerprint_fields(),
        "dataset": dataset.fingerprint,
        "sample": fingerprint("sample", sample),
        "index": dict(equipment.index_identity) if equipment else None,
        "reranker": dict(reranking.identity) | {"threshold": reranking.threshold} if reranking else None,
        "model_sha256": model_sha256,
        "strategies": strategies_sha256(),
        "prompts": {seat.spec.name: seat.spec.prompts_sha for seat in seats if seat.spec.needs_model},
        "plugins": {point.value: _dist_version(point) for point in entry_points(group=ENTRY_POINTS)},
        "arena": _version("rag-strategy-arena"),
    }


def run_fingerprint(identity_fields: Mapping[str, Any]) -> str:
    """The identity in one word."""
    return fingerprint("run", identity_fields)


def new_manifest(
    config: RunConfig, dataset: Dataset, equipment: Equipment | None, identity_fields: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    started = now()
    return {
        "schema_version": 1,
        "status": RUNNING,
        "fingerprint": run_fingerprint(identity_fields),
        "started": started,
        "finished": None,
        "config": config.model_dump(mode="json"),
        "identity": dict(identity_fields),
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "n_documents": len(dataset.documents),
            "n_questions": len(dataset.questions),
            "notes": list(dataset.notes),
        },
        "index": dict(equipment.index_facts) if equipment else None,
        "prices": price_source(price_table(config, started)).model_dump(mode="json"),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "machine": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "processor": platform.machine(),
        },
        "git": _git(),
    }


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """`place: old -> new` for every field in which two identities differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted({*old, *new})
        return [line for key in keys for line in differences(old.get(key), new.get(key), f"{place}.{key}".lstrip("."))]
    return [] if old == new else [f"{place}: {old!r} -> {new!r}"]


def model_warnings(records: Iterable[RunRecord]) -> list[str]:
    """What a reader must know of the models of a run: which settings they refused, so that they were left out."""
    refused: dict[str, dict[str, None]] = {}
    for record in records:
        for call in record.calls:
            refused.setdefault(call.model, {}).update(dict.fromkeys(call.dropped))
    return [
        f"model {model!r} refuses {', '.join(names)}: it was asked without" for model, names in refused.items() if names
    ]


def strategies_sha256() -> str:
    """Hash of the contestants' code, prompts included: an edited prompt is another experiment."""
    digest = hashlib.sha256()
    root = Path(strategies.__file__).parent
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _dist_version(point: EntryPoint) -> str | None:
    return point.dist.version if point.dist else None


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _git() -> dict[str, Any] | None:
    """Commit and dirtiness of the checkout this code runs from (None: it is installed, not checked out)."""
    here = Path(__file__).parent
    try:
        commit, dirty = (
            subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True, timeout=10).stdout
            for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit.strip(), "dirty": bool(dirty.strip())}
