"""What this process runs on: processor, cores, memory, GPU, versions, commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments.setup.identity import version_of

LIBRARIES = (
    "rag-strategy-arena",
    "langgraph",
    "langchain-core",
    "langchain-openai",
    "langchain-community",
    "openai",
    "instructor",
    "ragas",
    "rouge-score",
    "ir-measures",
    "scipy",
    "statsmodels",
    "numpy",
    "pydantic",
    "anyio",
    "qdrant-client",
    "qdrant-edge-py",
    "FlagEmbedding",
    "genai-prices",
    "tokenizers",
    "sentence-transformers",
    "transformers",
    "torch",
    "xllamacpp",
    "pyarrow",
    "plotly",
    "mlflow",
)


def library_versions() -> dict[str, str | None]:
    """Distribution -> its version, of all that can move a figure; None: not installed."""
    return {name: version_of(name) for name in LIBRARIES}


def machine() -> dict[str, Any]:
    """The machine, in words and numbers; None for what it does not tell."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory_bytes(),
        "gpus": _gpus(),
    }


def git_state() -> dict[str, Any] | None:
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


def _processor() -> str:
    """The processor's name as Linux tells it, else its architecture."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _gpus() -> list[str] | None:
    """Names of the GPUs that torch sees; None where torch was not needed, so that nobody asked it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
