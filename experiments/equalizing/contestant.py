"""Who is brought to one price, who cannot be, and the run of a contestant under other settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.config import RunConfig
from arena.errors import ConfigError
from strategies import Variant, find_variant

K = "retrieval.k"
ALLOWANCE = "allowance."
"""Prefix of the settings that cut a question short."""

Setting = Mapping[str, int]
"""Name of a setting -> value: `retrieval.k`, `allowance.tokens`, or one of the strategy's own, as `max_sentences`."""

_NAME_CHARS = 40
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Contestant:
    """One entry of the config's `strategies` in one mode. `name` is fit for a folder."""

    entry: str
    mode: str
    variant: Variant = field(compare=False)

    @property
    def name(self) -> str:
        safe = _UNSAFE.sub("-", f"{self.entry}-{self.mode}").strip("-.")
        if safe == f"{self.entry}-{self.mode}" and len(safe) <= _NAME_CHARS:
            return safe
        told_apart = hashlib.sha256(f"{self.entry} {self.mode}".encode()).hexdigest()[:6]
        return f"{safe[: _NAME_CHARS - 7]}-{told_apart}"


@dataclass(frozen=True, slots=True)
class StartList:
    """The entries of a config. `controls` ask a model and search no index; `silent` ones ask no model."""

    contestants: tuple[Contestant, ...]
    controls: tuple[str, ...]
    silent: tuple[str, ...]


def start_list(config: RunConfig) -> StartList:
    """Sort the entries of a config.

    Raises:
        ConfigError: fewer than two of them ask a model about what they retrieve.
        UnknownNameError: there is no such strategy.
    """
    found = [(entry, find_variant(entry, config.strategy_params)) for entry in config.strategies]
    contestants = tuple(
        Contestant(entry, mode, variant)
        for entry, variant in found
        if variant.spec.evidence == "index" and variant.spec.needs_model
        for mode in config.modes
    )
    if len(contestants) < 2:
        raise ConfigError(
            "there is nothing to make equal: name at least two strategies, or modes, that retrieve and ask a model"
        )
    return StartList(
        contestants,
        tuple(entry for entry, one in found if one.spec.evidence != "index" and one.spec.needs_model),
        tuple(entry for entry, one in found if not one.spec.needs_model),
    )


def config_under(config: RunConfig, contestant: Contestant, setting: Setting) -> RunConfig:
    """The config with this contestant alone, under other settings; `depth` grows with k where it must."""
    k = setting.get(K, config.retrieval.k)
    bounds = {name.removeprefix(ALLOWANCE): value for name, value in setting.items() if name.startswith(ALLOWANCE)}
    return config.model_copy(
        update={
            "strategies": (_entry(contestant.entry, setting),),
            "modes": (contestant.mode,),
            "retrieval": config.retrieval.model_copy(update={"k": k, "depth": max(k, config.retrieval.depth)}),
            "allowance": config.allowance.model_copy(update=bounds),
        }
    )


def shown(setting: Setting) -> str:
    """As in `retrieval.k=12, max_sentences=6`; `as configured` where nothing is set."""
    return ", ".join(f"{name}={value}" for name, value in setting.items()) or "as configured"


def run_name(contestant: Contestant, setting: Setting) -> str:
    """Of a run folder: as in `vanilla-dense_k-12`."""
    text = "_".join(f"{name.removeprefix('retrieval.')}-{value}" for name, value in setting.items())
    return f"{contestant.name}_{text or 'own'}"


def _entry(entry: str, setting: Setting) -> str:
    """The entry with settings of the strategy's own replaced or added."""
    own = {name: value for name, value in setting.items() if "." not in name}
    name, *given = entry.split(":")
    kept = [one for one in given if one.partition("=")[0].strip() not in own]
    return ":".join([name, *kept, *(f"{key}={value}" for key, value in own.items())])
