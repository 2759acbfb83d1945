"""How a run that `arena import` made is told from one that asked its own contestants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IMPORTED = "imported"
"""Key of a contestant's identity: SHA-256 of the file that its records were read from; no code of it is known."""


def is_imported(manifest: Mapping[str, Any]) -> bool:
    """Whether the run's records come from files: nothing can be asked again."""
    return any(IMPORTED in contestant for contestant in manifest["identity"].get("contestants", {}).values())
