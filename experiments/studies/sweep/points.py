"""The points of a sweep: which settings each is run with, and how it is called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from arena.config import RunConfig, validate_config
from arena.errors import ConfigError, UnknownNameError, UserError
from arena.identity import canonical_json, short_hash
from experiments.run.contestants import read_entries
from experiments.studies.folder import run_folder_name
from experiments.studies.sweep.config import Setting, SweptConfig
from indexing.modes import MODES
from strategies import find_variant

BASE = "base"
_NAME_CHARS = 90
_PARAMS = "strategy_params"


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One run of a sweep.

    `name`: of its run folder. `label`: what it sets, for people; of the config as it is, `base`. `values`: every factor
    of the sweep with the value it has here, set or not; a section is its settings as one JSON text.
    """

    name: str
    label: str
    values: Mapping[str, Any]
    config: RunConfig


@dataclass(frozen=True, slots=True)
class Points:
    """The points in the order of the config, each once; `skipped`: what no run may have, and why."""

    points: tuple[SweepPoint, ...]
    skipped: tuple[str, ...] = ()


def find_points(swept: SweptConfig, folder: Path) -> Points:
    """Every point of a sweep, checked as far as can be without an index or a model. Their runs go into `folder`.

    Raises:
        ConfigError: a factor lists a value twice, or none that a run may have; points are invalid and not to be
            skipped; fewer than two are left.
        UserError: what `read_entries` raises.
    """
    _check_repeats(swept)
    found: dict[str, SweepPoint] = {}
    invalid: dict[str, UserError] = {}
    valid: set[str] = set()
    for setting in swept.settings():
        label = label_of(setting)
        try:
            config = _config_at(swept, setting, label)
        except (ConfigError, UnknownNameError) as error:
            invalid[label] = error
            continue
        valid |= setting.keys()
        point = _point(swept, setting, label, config, folder)
        found.setdefault(_canonical(point.values), point)
    if not found or not valid >= swept.sweep.factors.keys():
        raise next(iter(invalid.values()))
    skipped = tuple(
        f"{label}: {str(error).removeprefix(f'{swept.path}, {label}: ')}" for label, error in invalid.items()
    )
    if skipped and not swept.sweep.skip_invalid:
        raise ConfigError(
            f"{swept.path}: {len(skipped)} of the sweep's points cannot be run; {'; '.join(skipped)}. Change "
            "the factors, or leave such points out with skip_invalid: true in the sweep section"
        )
    points = tuple(found.values())
    if len(points) < 2:
        raise ConfigError(f"{swept.path}: only one point is left of the sweep; {'; '.join(skipped)}")
    _check_lineups(points)
    return Points(_in_order(points, swept), skipped)


def _in_order(points: tuple[SweepPoint, ...], swept: SweptConfig) -> tuple[SweepPoint, ...]:
    """With a single factor, the config as it is comes where its value is listed."""
    if len(swept.sweep.factors) > 1:
        return points
    ((factor, values),) = swept.sweep.factors.items()
    listed = {_canonical(value): place for place, value in enumerate(values)}
    return tuple(sorted(points, key=lambda point: listed.get(_canonical(point.values[factor]), -1)))


def label_of(setting: Setting) -> str:
    """As in `retrieval.k=5, retrieval.depth=50`."""
    return ", ".join(f"{name}={_shown(value)}" for name, value in setting.items()) or BASE


def _config_at(swept: SweptConfig, setting: Setting, label: str) -> RunConfig:
    config = validate_config(swept.at(setting), f"{swept.path}, {label}" if setting else str(swept.path))
    for entry in config.strategies:
        find_variant(entry, config.strategy_params)
    for name, params in config.strategy_params.items():
        find_variant(name, {name: params})
    for mode in config.modes:
        if mode not in MODES:
            raise UnknownNameError("retrieval mode", mode, MODES)
    return config


def _check_repeats(swept: SweptConfig) -> None:
    """Refuse a factor that lists a value twice, also where two ways to write it mean the same."""
    for name, values in swept.sweep.factors.items():
        seen: dict[str, Any] = {}
        for value in values:
            same = _canonical(value)
            with suppress(ConfigError, UnknownNameError):  # what no run may have is said with its point
                same = _canonical(value_of(_config_at(swept, {name: value}, name), name))
            if same in seen:
                and_so = "" if _shown(seen[same]) == _shown(value) else f", which is the same as {_shown(seen[same])}"
                raise ConfigError(f"{swept.path}: factor {name!r} lists {_shown(value)} more than once{and_so}")
            seen[same] = value


def _check_lineups(points: Sequence[SweepPoint]) -> None:
    """Load every dataset and draw every sample that a point asks for, so that a wrong path is said now."""
    checked: set[str] = set()
    for point in points:
        asked = point.config.model_dump(
            mode="json",
            include={"dataset", "strategies", _PARAMS, "modes", "sample", "seed", "external"},
        )
        if (key := _canonical(asked)) not in checked:
            checked.add(key)
            read_entries(point.config)


def value_of(config: RunConfig, factor: str) -> Any:
    """The value of a dotted setting, defaults resolved; None where it has none."""
    parts = factor.split(".")
    if parts[0] == _PARAMS and len(parts) == 3:
        return find_variant(parts[1], config.strategy_params).params.model_dump(mode="json").get(parts[2])
    value: Any = config.model_dump(mode="json")
    for part in parts:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def short_values(points: Sequence[SweepPoint]) -> dict[str, dict[Any, str]]:
    """Factor -> its value -> what of it differs between `points`; of factors whose values are whole sections."""
    short: dict[str, dict[Any, str]] = {}
    for factor in dict.fromkeys(name for point in points for name in point.values):
        texts = list(dict.fromkeys(point.values[factor] for point in points))
        sections = {text: section for text in texts if (section := _section(text)) is not None}
        names = list(dict.fromkeys(name for section in sections.values() for name in section))
        differ = [name for name in names if len({_canonical(one.get(name)) for one in sections.values()}) > 1]
        short[factor] = {
            text: ", ".join(f"{name}={_shown(section[name])}" for name in differ if name in section) or text
            for text, section in sections.items()
        }
    return short


def _section(value: Any) -> dict[str, Any] | None:
    """The settings of a section, which stands among values as one JSON text; None for any other value."""
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _point(swept: SweptConfig, setting: Setting, label: str, config: RunConfig, folder: Path) -> SweepPoint:
    name = _name(setting)
    placed = config.model_copy(update={"runs_dir": folder, "run_id": name})
    values = {factor: _plain(value_of(config, factor)) for factor in swept.sweep.factors}
    return SweepPoint(name, label, values, placed)


def _name(setting: Setting) -> str:
    """Fit for a folder and different for every setting."""
    text = "_".join(f"{name}-{value}" for name, value in setting.items()) or BASE
    return run_folder_name(text, _NAME_CHARS, short_hash(_canonical(setting), 8))


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict | list) else value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_canonical = partial(canonical_json, default=str)
