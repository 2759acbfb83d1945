"""Which entries are brought to the same spending, in which unit, and by which settings.

The unit is tokens, US dollars or model calls per question. The settings that change what a strategy spends stand in the
order in which they are tried. A config under other settings gives an entry's run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.config import RunConfig
from arena.errors import ConfigError
from arena.identity import short_hash
from arena.leaderboard.build import CellSummary
from arena.report.figures import per_question_text, usd_text
from arena.types import Cell
from experiments.studies.folder import run_folder_name
from strategies import Variant, find_variant

K = "retrieval.k"
ALLOWANCE = "allowance."
"""Prefix of the settings that cut a question short."""

Setting = Mapping[str, int]
"""Name of a setting -> value: `retrieval.k`, `allowance.tokens`, or one of the strategy's own, as `max_sentences`."""

_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class EqualizedEntry:
    """One entry of the config's `strategies` in one mode. `name` is fit for a folder."""

    entry: str
    mode: str
    variant: Variant = field(compare=False)

    @property
    def name(self) -> str:
        return run_folder_name(f"{self.entry}-{self.mode}", _NAME_CHARS, short_hash(f"{self.entry} {self.mode}", 6))

    def has(self, cell: Cell | CellSummary) -> bool:
        """Whether a cell is its own, in a run under the settings of the config."""
        names = (self.variant.spec.name, self.mode)
        wanted = self.variant.settings.items()
        return (cell.strategy, cell.retrieval_mode) == names and wanted <= cell.params.items()


@dataclass(frozen=True, slots=True)
class StartList:
    """The entries of a config. `controls` ask a model and search no index; `silent` ones ask no model."""

    contestants: tuple[EqualizedEntry, ...]
    controls: tuple[str, ...]
    silent: tuple[str, ...]


def start_list(config: RunConfig) -> StartList:
    """Sort the entries of a config.

    Raises:
        ConfigError: fewer than two of them ask a model about what they retrieve; or there are systems of one's own.
        UnknownNameError: there is no such strategy.
    """
    if config.systems:
        raise ConfigError(
            f"what a system of your own spends cannot be set, and is not made equal: leave {', '.join(config.systems)} "
            "out of `systems`"
        )
    found = [(entry, find_variant(entry, config.strategy_params)) for entry in config.strategies]
    contestants = tuple(
        EqualizedEntry(entry, mode, variant)
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


def config_under(config: RunConfig, contestant: EqualizedEntry, setting: Setting) -> RunConfig:
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


def run_name(contestant: EqualizedEntry, setting: Setting) -> str:
    """Of a run folder: as in `vanilla-dense_k-12`."""
    text = "_".join(f"{name.removeprefix('retrieval.')}-{value}" for name, value in setting.items())
    return f"{contestant.name}_{text or 'own'}"


def _entry(entry: str, setting: Setting) -> str:
    """The entry with settings of the strategy's own replaced or added."""
    own = {name: value for name, value in setting.items() if "." not in name}
    name, *given = entry.split(":")
    kept = [one for one in given if one.partition("=")[0].strip() not in own]
    return ":".join([name, *kept, *(f"{key}={value}" for key, value in own.items())])


Unit = Literal["tokens", "usd", "calls"]


def spent(cell: CellSummary, unit: Unit) -> float:
    """What a cell spends per question, failed ones included; replayed calls at what they would have cost.

    Raises:
        ConfigError: it is not known.
    """
    match unit:
        case "calls":
            if cell.llm_calls_per_question is None:
                raise ConfigError(f"the calls of {cell.strategy!r} are unknown: it does not list them")
            return cell.llm_calls_per_question
        case "tokens":
            if cell.tokens is None:
                raise ConfigError(
                    f"the tokens of model {cell.llm!r} are unknown, its provider does not report them: equalise calls "
                    "with --per-question calls"
                )
            return cell.tokens
        case "usd":
            if cell.cost_usd_per_question is None:
                raise ConfigError(
                    f"no price is known for model {cell.llm!r}: give it one under `prices`, or equalise tokens with "
                    "--per-question tokens"
                )
            return cell.cost_usd_per_question


def amount_text(amount: float | None, unit: Unit) -> str:
    """Spending per question in its unit."""
    return usd_text(amount) if unit == "usd" else per_question_text(amount)


_LOOP = ("max_passages", "max_sentences")

_FOR_TOKENS: Mapping[str, tuple[str, ...]] = {"ircot": (K, *_LOOP), "adaptive": (K, *_LOOP)}
"""Strategy -> what changes how much it reads. All others read as many passages as they retrieve."""

_FOR_CALLS: Mapping[str, tuple[str, ...]] = {"vanilla": (), "ircot": ("max_sentences",), "adaptive": ("max_sentences",)}
"""Strategy -> what changes how often it asks. All others may ask once a passage."""


@dataclass(frozen=True, slots=True)
class AdjustableSetting:
    """A whole number that spending grows with, from `low` to `high`; `own` is what the config says."""

    name: str
    low: int
    high: int
    own: int


def adjustable_settings(
    config: RunConfig, contestant: EqualizedEntry, unit: Unit, n_passages: int
) -> tuple[AdjustableSetting, ...]:
    """The first is turned first. `n_passages`: of the index, more than which cannot be retrieved."""
    table = _FOR_CALLS if unit == "calls" else _FOR_TOKENS
    params = contestant.variant.params
    found = []
    for name in table.get(contestant.variant.spec.name, (K,)):
        if name == K:
            found.append(AdjustableSetting(K, 1, max(n_passages, config.retrieval.k), config.retrieval.k))
            continue
        constraints = type(params).model_fields[name].metadata
        bounds = {key: getattr(one, key) for one in constraints for key in ("ge", "le") if hasattr(one, key)}
        found.append(AdjustableSetting(name, bounds["ge"], bounds["le"], getattr(params, name)))
    return tuple(found)


def allowance_setting(
    config: RunConfig, contestant: EqualizedEntry, unit: Unit, target: float, spending: float
) -> AdjustableSetting | None:
    """The last resort: what one question may use, up to where that cuts nothing of `spending` per question.

    None where it can cut nothing: of a strategy that asks one call, and of dollars, in which no allowance is counted.
    """
    if unit == "usd" or len(contestant.variant.spec.roles) < 2:
        return None
    own: int | None = getattr(config.allowance, unit)
    high = max(2, round(2 * spending))
    high = high if own is None else min(own, high)
    return AdjustableSetting(f"{ALLOWANCE}{unit}", 1, high, min(high, max(1, round(target))))
