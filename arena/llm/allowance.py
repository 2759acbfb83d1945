"""What one question may use of a language model."""

from __future__ import annotations

from dataclasses import dataclass

FINAL_ROLE = "generate"
"""The role of the call that writes the final answer."""

FINAL_CALLS = 3
"""Calls under `FINAL_ROLE` that are granted once a bound is reached, so that a question ends with an answer."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bounds on one question: calls asked (repairs count), tokens read and written; None = no bound.

    Tokens are those that providers said; where one says nothing, only `calls` bounds a question. They are known when
    a call has ended, so that calls in flight at the same time may go past `tokens` together.
    """

    calls: int | None = None
    tokens: int | None = None

    def spent(self, calls: int, tokens: int) -> str | None:
        """Which bound is reached, and how to raise it; None = neither is."""
        for bound, used, what in ((self.calls, calls, "calls"), (self.tokens, tokens, "tokens")):
            if bound is not None and used >= bound:
                return f"the question has used {used} of the {bound} {what} it may: raise allowance.{what} for more"
        return None


UNBOUNDED = Allowance()
