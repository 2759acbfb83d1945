"""Reasoning that a model writes into its reply between `<think>` and `</think>`."""

from __future__ import annotations

import re

from arena.types.run import was_cut

_OPENS = re.compile(r"<think>", re.IGNORECASE)
_CLOSES = re.compile(r"</think>", re.IGNORECASE)


def holds_reasoning(text: str) -> bool:
    """Whether `text` has a block of reasoning, or a part of one."""
    return bool(_OPENS.search(text) or _CLOSES.search(text))


def without_reasoning(text: str) -> str:
    """What is left of `text` outside its reasoning, stripped.

    A `</think>` alone ends reasoning that the prompt had begun; a `<think>` alone was cut off, and all after it goes.
    """
    *closed, last = _CLOSES.split(text)
    halves = (_OPENS.split(block, maxsplit=1) for block in closed)
    outside = [half[0] for half in halves if len(half) > 1]
    return "".join([*outside, _OPENS.split(last, maxsplit=1)[0]]).strip()


def ends_in_reasoning(text: str) -> bool:
    """Whether the last block of reasoning has no end."""
    return bool(_OPENS.search(_CLOSES.split(text)[-1]))


def cut_before_speaking(text: str, finish_reason: str | None) -> bool:
    """Whether a reply was cut off before the model said anything: nothing is there, or reasoning without an end."""
    return not without_reasoning(text) and (ends_in_reasoning(text) or was_cut(finish_reason))
