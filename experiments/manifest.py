"""What a run must remember to be understood, repeated and continued."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from arena.config import RunConfig, fingerprint
from arena.store import RUNNING
from arena.types import Dataset, Question

LIBRARIES = (
    "rag-strategy-arena",
    "langgraph",
    "langchain-core",
    "langchain-openai",
    "qdrant-edge-py",
    "sentence-transformers",
    "transformers",
    "torch",
    "xllamacpp",
    "mlflow",
)


def identity(
    config: RunConfig,
    dataset: Dataset,
    asked: Mapping[str, Sequence[Question]],
    index: Mapping[str, Any] | None,
    model_sha256: str | None,
) -> dict[str, Any]:
    """Everything that can change a result. Two runs of equal identity may be joined; others may not."""
    sample = {name: [question.question_id for question in questions] for name, questions in asked.items()}
    return {
        "config": config.fingerprint_fields(),
        "dataset": dataset.fingerprint,
        "sample": fingerprint("sample", sample),
        "index": dict(index) if index else None,
        "model_sha256": model_sha256,
        "arena": _version("rag-strategy-arena"),
    }


def run_fingerprint(identity_fields: Mapping[str, Any]) -> str:
    """The identity in one word."""
    return fingerprint("run", identity_fields)


def new_manifest(config: RunConfig, dataset: Dataset, identity_fields: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    return {
        "schema_version": 1,
        "status": RUNNING,
        "fingerprint": run_fingerprint(identity_fields),
        "started": now(),
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


def now() -> str:
    """The time of day, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
