"""How long work reports on itself."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then, from the thread that works, with monotonically growing `done`."""

    def __call__(self, done: int, total: int | None, label: str) -> None:
        """`done` of `total` units (bytes, passages); `total` is None while unknown; `label` says of what."""
        ...


def silent(done: int, total: int | None, label: str) -> None:
    """Report to nobody."""
