"""The settings that change what a strategy spends, in the order in which they are turned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from arena.config import RunConfig
from experiments.equalizing.contestant import ALLOWANCE, Contestant, K
from experiments.equalizing.unit import Unit

_LOOP = ("max_passages", "max_sentences")

_FOR_TOKENS: Mapping[str, tuple[str, ...]] = {"ircot": (K, *_LOOP), "adaptive": (K, *_LOOP)}
"""Strategy -> what changes how much it reads. All others read as many passages as they retrieve."""

_FOR_CALLS: Mapping[str, tuple[str, ...]] = {"vanilla": (), "ircot": ("max_sentences",), "adaptive": ("max_sentences",)}
"""Strategy -> what changes how often it asks. All others may ask once a passage."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A whole number that spending grows with, from `low` to `high`; `own` is what the config says."""

    name: str
    low: int
    high: int
    own: int


def knobs_of(config: RunConfig, contestant: Contestant, unit: Unit, n_passages: int) -> tuple[Knob, ...]:
    """The first is turned first. `n_passages`: of the index, more than which cannot be retrieved."""
    table = _FOR_CALLS if unit == "calls" else _FOR_TOKENS
    names = table.get(contestant.variant.spec.name, (K,))
    return tuple(_knobs(config, contestant, names, n_passages))


def allowance_knob(
    config: RunConfig, contestant: Contestant, unit: Unit, target: float, spending: float
) -> Knob | None:
    """The last resort: what one question may use, up to where that cuts nothing of `spending` per question.

    None where it can cut nothing: of a strategy that asks one call, and of dollars, in which no allowance is counted.
    """
    if unit == "usd" or len(contestant.variant.spec.roles) < 2:
        return None
    own: int | None = getattr(config.allowance, unit)
    high = max(2, round(2 * spending))
    high = high if own is None else min(own, high)
    return Knob(f"{ALLOWANCE}{unit}", 1, high, min(high, max(1, round(target))))


def _knobs(config: RunConfig, contestant: Contestant, names: tuple[str, ...], n_passages: int) -> Iterator[Knob]:
    params = contestant.variant.params
    for name in names:
        if name == K:
            yield Knob(K, 1, max(n_passages, config.retrieval.k), config.retrieval.k)
            continue
        field = type(params).model_fields[name]
        bounds = {key: getattr(one, key) for one in field.metadata for key in ("ge", "le") if hasattr(one, key)}
        yield Knob(name, bounds["ge"], bounds["le"], getattr(params, name))
