"""Failed questions of which it is not known yet whether the provider was down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from arena.errors import ModelCallError
from arena.types import RunRecord


class HeldBack:
    """Hands records on to `keep`; one that failed for want of a reply only once the provider has replied again.

    A provider that goes down fails some questions before the breaker stops the run. They are no result: whoever drops
    this object without `release` leaves them without a record, and they are asked again when the run goes on.
    """

    def __init__(self, keep: Callable[[RunRecord], None], most: int) -> None:
        """`most`: held at once; what so many failures have not stopped the run for is a result."""
        self._keep = keep
        self._most = most
        self._held: deque[RunRecord] = deque()

    def take(self, record: RunRecord) -> None:
        """Keep `record`, or hold it back."""
        if record.failure is not None and record.failure.type == ModelCallError.__name__:
            self._held.append(record)
            if len(self._held) > self._most:
                self._keep(self._held.popleft())
            return
        if any(call.error is None and not call.replayed for call in record.calls):
            self.release()
        self._keep(record)

    def release(self) -> None:
        """Keep all that is held."""
        while self._held:
            self._keep(self._held.popleft())
