"""A sweep's config: that of a run, and a section that says which settings take which values.

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from arena.config import RunConfig, fingerprint, validate_config
from arena.config.loading import SWEEP_SECTION, merge, read_yaml
from arena.config.settings import Settings
from arena.errors import ConfigError, setting_problems
from arena.plan import RunPlan
from experiments.run.contestants import contestants
from experiments.run.identity import identity
from experiments.run.prepare import Prepared, planned_cells, prepare
from experiments.studies.folder import SweepFolder, named_after
from experiments.terminal.progress import Reporter

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
        """As `experiments.run.prepare.prepare`, and raises as it does. Closing what it gives does nothing."""
        if self._last is None or _but_retrieval(config) != _but_retrieval(self._last.config):
            self.close()
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
