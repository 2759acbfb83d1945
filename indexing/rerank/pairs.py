"""Pairs of query and passage on their way through a model, in batches that cut across queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from arena.errors import ConfigError
from arena.types import Passage, well_formed
from indexing.chunking import indexed_text

Model = TypeVar("Model")
Item = TypeVar("Item")

PASSAGE_TEXT = "title, newline, text"
DIGITS = 6


def pairs_of(queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[tuple[str, str]]:
    """Each query with each of its candidates, query by query."""
    return [
        (well_formed(query), well_formed(indexed_text(passage)))
        for query, passages in zip(queries, candidates, strict=True)
        for passage in passages
    ]


def by_query(scores: Sequence[float], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
    """The scores of `pairs_of`, apart again; steady."""
    remaining = iter(scores)
    return [[steady(next(remaining)) for _ in passages] for passages in candidates]


def score_all(
    models: Sequence[Model],
    items: Sequence[Item],
    length: Callable[[Item], int],
    work: Callable[[Model, list[Item]], list[float]],
) -> list[float]:
    """The score `work` gives each item, in their order; each model gets an equal share, its longest items first.

    Raises `ConfigError` when a batch does not fit into a device's memory.
    """
    import torch

    order = sorted(range(len(items)), key=lambda place: (-length(items[place]), place))
    shares = [share for share in (order[first :: len(models)] for first in range(len(models))) if share]
    jobs = list(zip(models, ([items[place] for place in share] for share in shares), strict=False))
    try:
        if len(jobs) <= 1:
            parts = [work(*job) for job in jobs]
        else:
            with ThreadPoolExecutor(len(jobs), thread_name_prefix="reranking") as pool:
                parts = list(pool.map(lambda job: work(*job), jobs))
    except torch.OutOfMemoryError as error:
        raise ConfigError(
            f"a batch of pairs does not fit into the device's memory: lower the reranker's batch_size or max_length "
            f"({str(error).partition('.')[0]})"
        ) from error
    scores = dict(zip(chain.from_iterable(shares), chain.from_iterable(parts), strict=True))
    return [scores[place] for place in range(len(items))]


def steady(score: float) -> float:
    """The score to six significant digits: further ones depend on the batch it came in and must not rank passages."""
    return float(f"{score:.{DIGITS}g}")


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow and with full precision near 0."""
    e = math.exp(-abs(logit))
    return 1 / (1 + e) if logit >= 0 else e / (1 + e)
