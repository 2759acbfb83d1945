"""Batches whose memory is bounded: padded tokens of a forward pass, texts of a call to the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

BATCH_TOKENS = 512  # padded tokens a text of the batch size may take: long texts go in smaller batches
TOKENIZED_TEXTS = 1000  # a tokenizer's answer takes kilobytes a text


def token_bounded(items: Sequence[Item], length: Callable[[Item], int], batch_size: int) -> Iterator[list[Item]]:
    """Runs of `items`, longest first, of at most `batch_size` items and `batch_size * BATCH_TOKENS` padded tokens.

    `length` is an item's tokens. An item longer than a whole batch's tokens goes alone.
    """
    start = 0
    while start < len(items):
        longest = max(length(items[start]), 1)
        rows = max(1, min(batch_size, batch_size * BATCH_TOKENS // longest))
        yield list(items[start : start + rows])
        start += rows


def token_counts(count: Callable[[Sequence[str]], Iterable[int]], texts: Sequence[str]) -> Iterator[int]:
    """The tokens of each text by `count`, which is given a bounded number of texts a call."""
    for start in range(0, len(texts), TOKENIZED_TEXTS):
        yield from count(texts[start : start + TOKENIZED_TEXTS])
