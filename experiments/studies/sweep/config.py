"""A sweep's config, that of a run and a section that says which settings take which values, and its points.

    retrieval: {k: 5}
    sweep:
      design: one_at_a_time
      factors:
        retrieval.k: [1, 3, 5, 10, 20]
        rerank.threshold: [default, 0.1]

Points that differ only in how they retrieve share one open index and its models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from arena.config import RunConfig, fingerprint, validate_config
from arena.config.loading import SWEEP_SECTION, merge, read_yaml
from arena.config.settings import Settings
from arena.errors import ConfigError, UnknownNameError, UserError, setting_problems
from arena.identity import canonical_json, short_hash
from arena.plan import RunPlan
from arena.store import FINISHED, MANIFEST, RunStore
from experiments.execution.contestants import contestants, read_entries
from experiments.execution.identity import identity
from experiments.execution.manifest import check_version
from experiments.execution.prepare import Prepared, planned_cells, prepare
from experiments.studies.folder import SweepFolder, named_after, run_folder_name
from experiments.terminal.progress import Reporter
from indexing.modes import MODES
from strategies import find_variant

SECTION = SWEEP_SECTION
_OF_THE_SWEEP = ("runs_dir", "run_id", "mlflow", SECTION)
"""Settings that are the sweep's own, and no factor's."""

Setting = Mapping[str, Any]
"""Factor -> the value it takes at one point; a factor that is not in it keeps the value of the config."""


class SweepConfig(Settings):
    """Which points of the settings a sweep looks at.

    `one_at_a_time`: the config as it is, then each value of each factor with all others as they are. `grid`: every
    combination. `skip_invalid`: leave out combinations that no run may have, instead of refusing them all.
    """

    design: Literal["one_at_a_time", "grid"] = "one_at_a_time"
    factors: Mapping[str, tuple[Any, ...]] = Field(min_length=1, description="Dotted setting -> its values.")
    skip_invalid: bool = False

    @field_validator("factors")
    @classmethod
    def _factors_vary(cls, factors: Mapping[str, tuple[Any, ...]]) -> Mapping[str, tuple[Any, ...]]:
        for name, values in factors.items():
            if not all(name.split(".")):
                raise ValueError(f"factor {name!r} is no setting: write it as in retrieval.k")
            if name.split(".")[0] in _OF_THE_SWEEP:
                raise ValueError(f"factor {name!r} is a setting of the sweep as a whole: set it in the config itself")
            if len(values) < 2:
                raise ValueError(
                    f"factor {name!r} has {len(values) or 'no'} value{'' if len(values) == 1 else 's'}: list two or "
                    "more, or set it in the config itself"
                )
        for one, other in combinations(sorted(factors), 2):
            if other.startswith(f"{one}."):
                raise ValueError(f"factor {one!r} holds the whole section that {other!r} is part of: leave one out")
        return factors


@dataclass(frozen=True, slots=True)
class SweptConfig:
    """A config file with a sweep: `base`, the settings of a run as written, and `sweep`."""

    path: Path
    base: Mapping[str, Any]
    sweep: SweepConfig

    def settings(self) -> Iterator[Setting]:
        """What each point sets, in the order of the file; the first of `one_at_a_time` sets nothing."""
        factors = self.sweep.factors
        if self.sweep.design == "one_at_a_time":
            yield {}
            for name, values in factors.items():
                yield from ({name: value} for value in values)
        else:
            yield from (dict(zip(factors, values, strict=True)) for values in product(*factors.values()))

    def at(self, setting: Setting) -> dict[str, Any]:
        """The settings of a run at one point, not yet validated; a mapping goes over the section it names."""
        values = dict(self.base)
        for name, value in setting.items():
            nested = value
            for part in reversed(name.split(".")):
                nested = {part: nested}
            values = merge(values, nested)
        return values


def load_sweep(path: Path) -> SweptConfig:
    """Read a sweep's config.

    Raises:
        ConfigError: the file cannot be read, or its `sweep` section is missing or none.
    """
    base = read_yaml(path)
    section = base.pop(SECTION, None)
    if not isinstance(section, Mapping):
        raise ConfigError(
            f"{path}: nothing to sweep: add a section as in sweep: {{factors: {{retrieval.k: [1, 3, 5, 10]}}}}"
        )
    try:
        return SweptConfig(path, base, SweepConfig.model_validate(dict(section)))
    except ValidationError as error:
        problems = setting_problems(error, lambda _: SweepConfig.model_fields, under=SECTION)
        raise ConfigError(f"{path}: {problems}") from None


def is_done(store: RunStore, config: RunConfig) -> bool:
    """Whether a run is there whole, under these very settings. Raises `RunStoreError` for one of another version."""
    if not (store.folder / MANIFEST).is_file():
        return False
    check_version(store)
    manifest = store.manifest()
    return bool(manifest["status"] == FINISHED and manifest["config"] == config.model_dump(mode="json"))


class _Lent(Prepared):
    """A prepared point whose index stays open for the next one."""

    __slots__ = ()

    def close(self) -> None:
        """Whoever lent it closes it."""


class PointPreparer:
    """Prepares points one after the other, and keeps the last one's index open until another is needed."""

    def __init__(self, reporter: Reporter, *, dry: bool = False) -> None:
        """`dry`: see `prepare`."""
        self._reporter = reporter
        self._dry = dry
        self._last: Prepared | None = None

    def prepare(self, config: RunConfig) -> Prepared:
        """As `experiments.execution.prepare.prepare`, and raises as it does. Closing what it gives does nothing."""
        if self._last is None or _but_retrieval(config) != _but_retrieval(self._last.config):
            self.close()  # first: two open indexes would take the memory of both
            self._last = prepare(config, self._reporter, dry=self._dry)
        found = self._last
        competing = contestants(config, found.entries, found.equipment)
        fields = identity(config, found.entries, found.equipment, found.identity["model_sha256"])
        plan = RunPlan(planned_cells(found.entries, competing))
        return _Lent(config, found.entries, competing, found.equipment, fields, plan)

    def close(self) -> None:
        """Close the index that is open, if one is."""
        if self._last is not None:
            self._last.close()
        self._last = None


def _but_retrieval(config: RunConfig) -> str:
    """All settings but those by which an index is asked, and where the run goes."""
    return json.dumps(config.model_dump(mode="json", exclude={"retrieval", "runs_dir", "run_id"}), sort_keys=True)


def sweep_fingerprint(swept: SweptConfig) -> str:
    """The config as written, in one word."""
    section = swept.sweep.model_dump(mode="json")
    return fingerprint("sweep", {"base": json.loads(json.dumps(dict(swept.base), default=str)), "sweep": section})


def folder_of(swept: SweptConfig) -> SweepFolder:
    """Where a sweep goes: `run_id` names it, else the config's name and fingerprint do, so that the same file goes on.

    Raises:
        ConfigError: `runs_dir` or `run_id` is none.
    """
    placed = {name: swept.base[name] for name in ("runs_dir", "run_id") if name in swept.base}
    config: RunConfig = validate_config(placed, str(swept.path))
    named = config.run_id or f"{named_after(swept.path.stem, 'sweep')}-{sweep_fingerprint(swept)[-6:]}"
    return SweepFolder(config.runs_dir / named)


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
        name = _name(setting)
        values = {factor: _plain(value_of(config, factor)) for factor in swept.sweep.factors}
        placed = config.model_copy(update={"runs_dir": folder, "run_id": name})
        found.setdefault(_canonical(values), SweepPoint(name, label, values, placed))
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


def _name(setting: Setting) -> str:
    """Fit for a folder and different for every setting."""
    text = "_".join(f"{name}-{value}" for name, value in setting.items()) or BASE
    return run_folder_name(text, _NAME_CHARS, short_hash(_canonical(setting), 8))


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict | list) else value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_canonical = partial(canonical_json, default=str)
