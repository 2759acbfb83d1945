"""Which questions a run asks: a seeded sample, stratified by kind and number of hops, or the ones that it names.

Every question belongs to one of two parts for good. What is tuned on `dev` is measured on `eval`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from arena.config import RunConfig
from arena.errors import ConfigError, nearest
from arena.types import Kind, Question, grouped

DEV_SHARE = 0.3

Part = Literal["dev", "eval"]
Stratum = tuple[Kind, int]


def part_of(question_id: str) -> Part:
    """The part a question belongs to, by a hash of its id: the same on every machine, under every seed and limit."""
    first = hashlib.sha256(f"part:{question_id}".encode()).digest()[:8]
    return "dev" if int.from_bytes(first) < DEV_SHARE * 2**64 else "eval"


def in_part(questions: Sequence[Question], part: Literal["all", "dev", "eval"]) -> tuple[Question, ...]:
    """Those of `questions` that belong to `part`, in their given order."""
    return tuple(one for one in questions if part == "all" or part_of(one.question_id) == part)


def named(questions: Sequence[Question], ids: Sequence[str]) -> tuple[Question, ...]:
    """Those of `questions` with these ids, in their given order.

    Raises:
        ConfigError: no question has one of the ids.
    """
    known = {question.question_id for question in questions}
    for wanted in ids:
        if wanted not in known:
            near = nearest(wanted, known, likeness=0.0)
            ending = f"; the nearest is {near!r}" if near else ""
            raise ConfigError(f"sample.ids names {wanted!r}, and no question of the dataset has that id{ending}")
    chosen = frozenset(ids)
    return tuple(question for question in questions if question.question_id in chosen)


def require_dev(config: RunConfig) -> None:
    """Refuse to tune on what is measured later.

    Raises:
        ConfigError: a question that `config` may draw, or names, belongs to the part `eval`.
    """
    sampled = config.sample
    if sampled.ids is not None:
        kept_apart = [one for one in sampled.ids if part_of(one) == "eval"]
        if kept_apart:
            raise ConfigError(
                f"sample.ids names {kept_apart[0]!r}, which belongs to the part eval, that tuning must not see: name "
                "questions of the part dev only, or set sample.part to dev"
            )
    elif sampled.part != "dev":
        raise ConfigError(
            f"sample.part is {sampled.part!r}: what is tuned must not see the questions that it is measured on later; "
            "set sample.part to dev"
        )


def sample(
    questions: Sequence[Question], limit: int | None, *, balance: Literal["proportional", "even"], seed: int
) -> tuple[Question, ...]:
    """At most `limit` of `questions` (None = all), in their given order.

    A stratum is (kind, hops), hops being counted for multi-hop questions only. `proportional` gives each its
    share of the whole; `even` gives each the same number, and what a small one cannot fill goes to the others. Inside
    a stratum, questions are taken in the order of a hash of seed and id, so that the same seed takes the same
    questions whatever the order of the file, and a larger limit keeps all of a smaller one's.
    """
    if limit is None or limit >= len(questions):
        return tuple(questions)
    strata = grouped(((one.kind, (one.hops or 0) if one.kind == "multi_hop" else 0), one) for one in questions)
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
    """Places by Webster's method (Sainte-Lague), one after another: to the stratum with the most members a place.

    Unlike the largest remainder, it takes no place away when there are more to give.
    """
    counts = dict.fromkeys(sizes, 0)
    for _ in range(limit):
        open_strata = (stratum for stratum in sizes if counts[stratum] < sizes[stratum])
        nearest = max(open_strata, key=lambda stratum: Fraction(sizes[stratum], 2 * counts[stratum] + 1))
        counts[nearest] += 1
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
