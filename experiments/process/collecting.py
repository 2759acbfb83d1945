"""Garbage collection where its pauses would be felt."""

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


@contextmanager
def no_pauses() -> Iterator[None]:
    """Collect no cycles: for work that makes millions of objects, keeps them and then ends.

    Looking through them again and again takes a fifth of the time in which a large report is written.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
