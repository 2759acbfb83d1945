"""`arena doctor`: is this installation sound?

`arena`, `strategies` and `experiments` are names of other people's projects on the public index. Two
distributions that provide one package overwrite each other without a word, so that is checked first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points, packages_distributions
from importlib.util import find_spec
from pathlib import Path

from arena.config import cache_dir, cache_folder
from arena.datasets import PLUGIN_GROUP as DATASET_PLUGINS
from arena.errors import UserError
from experiments.terminal.console import Console
from strategies.table import ENTRY_POINTS as STRATEGY_PLUGINS

DISTRIBUTION = "rag-strategy-arena"
PACKAGES = ("arena", "strategies", "indexing", "experiments")
GROUPS = (DATASET_PLUGINS, STRATEGY_PLUGINS)
"""Groups of entry points through which other packages add to this one."""
_CACHE_BYTES_NEEDED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, whether it is sound, and what was seen or what to do."""

    subject: str
    sound: bool
    detail: str


def examine() -> list[Finding]:
    """All checks, in the order in which a user should mend them."""
    return [
        *collisions(packages_distributions()),
        *shadows(Path.cwd()),
        *(Finding("plug-in", False, text) for text in unknown_groups(entry_points().groups)),
        _cache(cache_dir()),
        *_weights(),
    ]


def report(findings: Iterable[Finding], console: Console) -> bool:
    """Print one line per finding; True when all are sound."""
    findings = list(findings)
    for finding in findings:
        mark = "ok  " if finding.sound else "BAD "
        console.print(f"{mark} {finding.subject}: {finding.detail}", markup=False, highlight=False, soft_wrap=True)
    return all(finding.sound for finding in findings)


def collisions(providers: Mapping[str, Iterable[str]]) -> list[Finding]:
    """Whether each of our packages comes from our distribution alone.

    Args:
        providers: package -> distributions that provide it, as `importlib.metadata.packages_distributions`.
    """
    findings = []
    for package in PACKAGES:
        others = sorted(set(providers.get(package, ())) - {DISTRIBUTION})
        detail = f"also provided by {', '.join(others)}: uninstall it, then reinstall {DISTRIBUTION}"
        findings.append(Finding(f"package {package}", not others, detail if others else f"from {DISTRIBUTION} alone"))
    return findings


def shadows(folder: Path) -> list[Finding]:
    """What in `folder`, where Python looks first, stands before our packages: an own script there gets it instead."""
    findings = []
    for package in PACKAGES:
        places = [place for place in (folder / package, folder / f"{package}.py") if place.exists()]
        found = find_spec(package)
        ours = {Path(place).resolve() for place in (found and found.submodule_search_locations) or ()}
        for place in places:
            if place.resolve() not in ours and (place.is_file() or (place / "__init__.py").exists()):
                detail = f"{str(place)!r} hides our package from Python started here: rename it, or work elsewhere"
                findings.append(Finding(f"package {package}", False, detail))
    return findings


def unknown_groups(groups: Iterable[str]) -> list[str]:
    """What to say of each group of entry points that looks like ours and is not: its plug-ins are never used."""
    return [
        f"an installed package has plug-ins in {group!r}, and there is no such group: known are {', '.join(GROUPS)}"
        for group in sorted(groups)
        if group.startswith("arena.") and group not in GROUPS
    ]


def _cache(folder: Path) -> Finding:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.touch()
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("cache", False, f"cannot write to {str(folder)!r} ({error.strerror}): set ARENA_CACHE elsewhere")
    enough = free > _CACHE_BYTES_NEEDED
    return Finding("cache", enough, f"{folder}, {free / 1e9:.1f} GB free" + ("" if enough else ": make room"))


def _weights() -> list[Finding]:
    from indexing.weights import list_models

    try:
        listed = list_models(cache_folder("weights"))
    except UserError as error:
        return [Finding("weights", False, str(error))]
    return [
        Finding(f"weights {one.model.name}", True, str(one.path) if one.path else "not here yet; fetched on first use")
        for one in listed
    ]
