"""Stops a run when its provider is down, instead of letting it fail every question."""

from __future__ import annotations

from arena.errors import ProviderDownError


class Breaker:
    """Opens after `most` failed calls with no reply in between, and then stays open.

    What counts is a call that failed after all its attempts with a fault that might have passed. Other failed calls,
    say of a prompt that is too long, neither count nor clear it.
    """

    def __init__(self, most: int, model: str) -> None:
        """`model`: its name and place, for the message."""
        self._most = most
        self._model = model
        self._failures = 0
        self._last = ""

    def check(self) -> None:
        """Raise `ProviderDownError` if it is open."""
        if self._failures >= self._most:
            calls = f"{self._most} calls in a row, each" if self._most > 1 else "a call"
            raise ProviderDownError(
                f"model {self._model} failed {calls} after all its attempts, the last with: {self._last}; see whether "
                "the server is up and its limits are kept (concurrency, requests_per_minute, tokens_per_minute), then "
                "go on with --resume"
            )

    def succeeded(self) -> None:
        """A reply came."""
        if self._failures < self._most:
            self._failures = 0

    def failed(self, message: str) -> None:
        """A call has failed for good with `message`. Raises `ProviderDownError` if that opens it, or it is open."""
        if self._failures < self._most:
            self._failures += 1
            self._last = message
        self.check()
