"""Garbage collection while questions are in flight."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def short_pauses() -> Iterator[None]:
    """Spare the collector what was there before: models and index stay for the whole run.

    With torch loaded that is half a million objects. Each full collection would look at all of them, and hold every
    question in flight up for half a second, which their latencies would show.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
