"""Work that takes longer than a reader waits: done beside the replies, each piece by one thread at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock, Semaphore, Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Background(Generic[T]):
    """Pieces of work by name, `at_once` of them at a time. What goes on at the end of the process is dropped."""

    at_once: int
    _going: dict[str, Future[T]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _room: Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._room = Semaphore(self.at_once)

    def of(self, name: str, make: Callable[[], T]) -> Future[T]:
        """What `make` will return: begun now, or the piece of that name that goes on already."""
        with self._lock:
            going = self._going.get(name)
            if going is None:
                going = self._going[name] = Future()
                going.set_running_or_notify_cancel()  # so that nobody who stops waiting cancels it for the others
                Thread(target=self._do, args=(name, going, make), daemon=True).start()
            return going

    def _do(self, name: str, going: Future[T], make: Callable[[], T]) -> None:
        with self._room:
            try:
                made = make()
            except Exception as error:  # noqa: BLE001  it belongs to whoever asks for the result
                self._end(name)
                going.set_exception(error)
            else:
                self._end(name)
                going.set_result(made)

    def _end(self, name: str) -> None:
        with self._lock:
            del self._going[name]


async def wait_for(pieces: Iterable[Future[Any]], seconds: float | None) -> None:
    """Return once all are done, or after `seconds` (None: not before)."""
    waited = [asyncio.wrap_future(piece) for piece in pieces]
    if waited:
        await asyncio.wait(waited, timeout=seconds)
