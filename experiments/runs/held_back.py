"""Failed questions of which it is not known yet whether the provider was down."""

from __future__ import annotations

from collections import deque

from arena.errors import ModelCallError, ProviderDownError
from arena.runner import Keep
from arena.types import RunRecord


class HeldBack:
    """Hands records on to `keep`; one that failed for want of a reply only once the provider has replied again.

    A provider that goes down fails some questions before the breaker stops the run. They are no result: whoever drops
    this object without `release` leaves them without a record, and they are asked again when the run goes on.
    """

    def __init__(self, keep: Keep, most: int) -> None:
        """`most`: held at once; what so many failures have not stopped the run for is a result."""
        self._keep = keep
        self._most = most
        self._held: deque[RunRecord] = deque()

    async def take(self, record: RunRecord) -> None:
        """Keep `record`, or hold it back.

        Raises:
            ProviderDownError: more than `most` questions in a row were given up without a single reply. The breaker
                does not see them: their calls were given up with them, and have neither failed nor succeeded.
        """
        if _lacks_reply(record):
            self._held.append(record)
            if len(self._held) > self._most:
                if all(_given_up(one) and not _replied(one) for one in self._held):
                    raise ProviderDownError(_silent(self._held))
                await self._keep(self._held.popleft())
            return
        if _replied(record):
            await self.release()
        await self._keep(record)

    async def release(self) -> None:
        """Keep all that is held."""
        while self._held:
            await self._keep(self._held.popleft())


def _replied(record: RunRecord) -> bool:
    return any(call.error is None and not call.replayed for call in record.calls)


def _lacks_reply(record: RunRecord) -> bool:
    """Whether the last that it waited for may have been a reply that did not come."""
    failed_call = record.failure is not None and record.failure.type == ModelCallError.__name__
    return failed_call or _given_up(record)


def _given_up(record: RunRecord) -> bool:
    """Whether a question that asks a model took too long."""
    return record.failure is not None and record.failure.stage == "timeout" and record.cell.llm is not None


def _silent(held: deque[RunRecord]) -> str:
    return (
        f"{len(held)} questions in a row got no reply of their model within question_timeout_seconds, the last of them "
        f"{held[-1].question_id!r}: see whether the server is up, or allow more time "
        "with --set question_timeout_seconds=N, then go on with --resume"
    )
