"""Which questions a run asks: a seeded sample, stratified by kind and number of hops."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from arena.types import Question

Stratum = tuple[str, int]


def sample(
    questions: Sequence[Question], limit: int | None, *, balance: Literal["proportional", "even"], seed: int
) -> tuple[Question, ...]:
    """At most `limit` of `questions` (None = all), in their given order.

    A stratum is (kind, hops), hops being counted for multi-hop questions only. `proportional` gives each its
    share of the whole by largest remainder; `even` gives each the same number, and what a small one cannot fill
    goes to the others. Inside a stratum, questions are taken in the order of a hash of seed and id, so that the
    same seed takes the same questions whatever the order of the file, and a larger limit keeps most of a
    smaller one's.
    """
    if limit is None or limit >= len(questions):
        return tuple(questions)
    strata: dict[Stratum, list[Question]] = defaultdict(list)
    for question in questions:
        hops = question.hops if question.kind == "multi_hop" else None
        strata[question.kind, hops or 0].append(question)
    sizes = {stratum: len(members) for stratum, members in sorted(strata.items())}
    counts = _even(sizes, limit) if balance == "even" else _proportional(sizes, limit)
    chosen: set[str] = set()
    for stratum, count in counts.items():
        drawn = sorted(strata[stratum], key=lambda question: _order(question.question_id, seed))
        chosen.update(question.question_id for question in drawn[:count])
    return tuple(question for question in questions if question.question_id in chosen)


def _order(question_id: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{question_id}".encode()).hexdigest()


def _proportional(sizes: Mapping[Stratum, int], limit: int) -> dict[Stratum, int]:
    total = sum(sizes.values())
    counts = {stratum: limit * size // total for stratum, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda stratum: (-(limit * sizes[stratum] % total), stratum))
    for stratum in by_remainder[: limit - sum(counts.values())]:
        counts[stratum] += 1
    return counts


def _even(sizes: Mapping[Stratum, int], limit: int) -> dict[Stratum, int]:
    counts = dict.fromkeys(sizes, 0)
    left = limit
    while left:
        open_strata = [stratum for stratum in sizes if counts[stratum] < sizes[stratum]]
        for stratum in open_strata[:left]:
            counts[stratum] += 1
        left -= min(left, len(open_strata))
    return counts
