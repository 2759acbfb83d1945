"""One question's account of everything it asked a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from arena.errors import ModelCallError
from arena.protocols import ChatModel, Message
from arena.types import LLMCall, well_formed


class Ledger:
    """A `Writer` for one question: asks `model` and keeps every entry, the failed ones included.

    `clock` gives the seconds since the question's start.
    """

    def __init__(self, model: ChatModel, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._entries: list[LLMCall | None] = []

    @property
    def calls(self) -> tuple[LLMCall, ...]:
        """The finished calls, in the order in which they were asked, whichever finished first."""
        return tuple(entry for entry in self._entries if entry is not None)

    async def write(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> str:
        place = len(self._entries)
        self._entries.append(None)
        started = self._clock()
        reply = await self._model.complete(messages, role=well_formed(role), max_tokens=max_tokens)
        self._entries[place] = replace(reply.call, started_seconds=started)
        if reply.text is None:
            attempts = f"{reply.call.attempts} attempt{'s' if reply.call.attempts != 1 else ''}"
            raise ModelCallError(f"model {self._model.name!r}, role {role!r}, after {attempts}: {reply.call.error}")
        return reply.text
