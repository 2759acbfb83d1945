"""Prompts that fit the model's window: what is left out of the evidence when it is too long, and that it was.

One policy for every call that shows passages: those at the end are dropped; a first passage that is too long alone is
shortened at its end; where nothing fits, none is shown. A server that refuses a prompt all the same is asked again
with a fifth less. It is never silent: a decision `fit` says how many of the passages were shown, and the answer's
record holds what the reader saw.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from arena.errors import PromptTooLongError
from arena.protocols import Message, Writer
from arena.types import FIT, Decision, Passage

T = TypeVar("T")
Build = Callable[[tuple[Passage, ...]], Sequence[Message]]
"""The prompt that shows these passages."""
Ask = Callable[[Sequence[Message], tuple[Passage, ...]], Awaitable[T]]
"""Asks the model with a prompt and the passages in it."""

MOST_REFUSALS = 3
_LESS = 0.8
_GRAIN = 128
"""A passage is shortened to one of so many parts of its length."""


async def from_passages(
    writer: Writer,
    build: Build,
    passages: Sequence[Passage],
    ask: Ask[T],
    *,
    room: int | None = None,
    subject: str | None = None,
) -> tuple[T, tuple[Passage, ...], tuple[Decision, ...]]:
    """What `ask` gives, the passages that stood in the prompt it was given, and a decision where some were left out.

    `room`: see `Writer.write`. `subject`: what the call is about, where a question has several.

    Raises:
        PromptTooLongError: the server refuses the prompt even without a passage, or for the fourth time.
    """
    kept, prompt = await fitted(writer, build, passages, room=room)
    for refused in range(MOST_REFUSALS + 1):
        try:
            said = await ask(prompt, kept)
            break
        except PromptTooLongError:
            if not kept or refused == MOST_REFUSALS:
                raise
            kept = _less(kept)
            prompt = build(kept)
    return said, kept, _decision(tuple(passages), kept, subject)


async def fitted(
    writer: Writer, build: Build, passages: Sequence[Passage], *, room: int | None = None
) -> tuple[tuple[Passage, ...], Sequence[Message]]:
    """As many of the first `passages` as fit the model's window, and the prompt that shows them.

    All of them where the window is not known.
    """
    whole = tuple(passages)
    prompt = build(whole)
    if not whole or await writer.fits(prompt, room=room):
        return whole, prompt

    async def fits(shown: tuple[Passage, ...]) -> bool:
        return await writer.fits(build(shown), room=room)

    kept = whole[: await _most(len(whole) - 1, lambda n: fits(whole[:n]))]
    if not kept:
        first = whole[0]
        parts = await _most(_GRAIN - 1, lambda parts: fits((shortened(first, len(first.text) * parts // _GRAIN),)))
        kept = (shortened(first, len(first.text) * parts // _GRAIN),) if parts else ()
    return kept, build(kept)


def shortened(passage: Passage, chars: int) -> Passage:
    """The first `chars` characters of a passage, with the spans of its document that these are."""
    text = passage.text[:chars]
    spans: list[tuple[int, int]] = []
    left = len(text)
    for start, end in passage.spans:
        if left <= 0:
            break
        spans.append((start, min(end, start + left)))
        left -= end - start + 1  # the space between two parts
    if not spans:
        spans = [(passage.start_char, passage.start_char)]
    return replace(
        passage,
        text=text,
        start_char=spans[0][0],
        end_char=spans[-1][1],
        parts=tuple(spans) if len(spans) > 1 else (),
    )


async def _most(limit: int, fits: Callable[[int], Awaitable[bool]]) -> int:
    """The largest number up to `limit` that fits, where less always fits too; 0 where none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if await fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _less(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """A fifth less of the evidence, in characters, taken from its end."""
    room = int(sum(len(passage.text) for passage in passages) * _LESS)
    kept: list[Passage] = []
    for passage in passages:
        if len(passage.text) > room:
            break
        kept.append(passage)
        room -= len(passage.text)
    if kept:
        return tuple(kept)
    first = shortened(passages[0], room)
    return (first,) if first.text else ()


def _decision(asked: tuple[Passage, ...], kept: tuple[Passage, ...], subject: str | None) -> tuple[Decision, ...]:
    if kept == asked:
        return ()
    choice = "none_fits" if not kept else "dropped" if len(kept) < len(asked) else "shortened"
    return (Decision(FIT, choice, float(len(kept)), float(len(asked)), changed=("evidence",), subject=subject),)
