"""Waiting for what happens, never for a span of time. The limit is for what hangs: no machine is too slow for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

PATIENCE_SECONDS = 300.0


class Ending(Protocol):
    """A process, of whatever kind."""

    def poll(self) -> int | None: ...


def wait_until(happened: Callable[[], object], process: Ending | None = None) -> bool:
    """Whether it happened; False where `process` ended before. Raises `TimeoutError` after PATIENCE_SECONDS."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        if process is not None and process.poll() is not None:
            return bool(happened())
        if time.monotonic() > ends:
            raise TimeoutError(f"it did not happen within {PATIENCE_SECONDS:g} s")
        time.sleep(0.005)
    return True
