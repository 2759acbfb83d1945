"""Stopping gently: a signal gives up what is in flight, and what is done is kept."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, a closed terminal."""


@contextmanager
def until_stopped() -> Iterator[anyio.CancelScope]:
    """A scope that each of `SIGNALS` cancels; its `cancel_called` says afterwards whether one did."""
    with anyio.CancelScope() as scope, _hearing(scope.cancel):
        yield scope


@contextmanager
def _hearing(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` in the running event loop for each of `SIGNALS`.

    One that is ignored, as Ctrl-C is in a background job of a script and a hang-up under nohup, stays ignored.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
