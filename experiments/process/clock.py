"""The time of day, as run folders and manifests write it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The time of day, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
