"""In which settings runs differ, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.report.figures import UNDEFINED
from experiments.execution.scoring import PastRun

Concerns = Literal["scores", "cost", "seconds"]

_HASH_CHARS = 12
_SECTIONS = ("model", "index", "reranker", "external")
"""Parts of an identity that a run without a cell that needs them does not have: then they are no difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting, and run -> its value there; a run that does not have the setting is not in it.

    `concerns`: what of the figures it may change.
    """

    setting: str
    values: Mapping[str, Any]
    concerns: Concerns = "scores"

    def shown(self, run: str) -> str:
        """The value in one run, hashes cut short; an en dash where it does not have the setting."""
        return _shown(self.values[run]) if run in self.values else UNDEFINED

    def __str__(self) -> str:
        """As in `retrieval.k: 5 in a, 10 in b`."""
        return f"{self.setting}: {', '.join(f'{self.shown(run)} in {run}' for run in self.values)}"


def differences(runs: Mapping[str, PastRun], judges: Mapping[str, Mapping[str, str | None]]) -> list[Difference]:
    """Every setting in which two runs (label -> run) differ. `judges`: label -> metric -> who judged it."""
    manifests = {label: run.manifest for label, run in runs.items()}
    found = list(_differing({label: _identity(one) for label, one in manifests.items()}, "scores"))
    shas = {label: {f"judge of {metric}": sha for metric, sha in one.items()} for label, one in judges.items()}
    found += _differing(shas, "scores")
    found += _differing({label: _machine(one) for label, one in manifests.items()}, "seconds")
    return found


def price_differences(stated: Mapping[str, Mapping[str, Any]]) -> list[Difference]:
    """Of the prices that each run (label -> its manifest) was first given."""
    return list(_differing({label: _flat(one.get("prices"), "prices") for label, one in stated.items()}, "cost"))


def _differing(settings: Mapping[str, Mapping[str, Any]], concerns: Concerns) -> Iterator[Difference]:
    names = dict.fromkeys(name for one in settings.values() for name in one)
    for name in names:
        values = {label: one[name] for label, one in settings.items() if name in one}
        known = list(values.values())
        if any(value != known[0] for value in known[1:]):
            yield Difference(name, values, concerns)


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the records of a run were made under, by name: `retrieval.k`, `index.embedder.model`, `vanilla.prompts`."""
    identity = manifest["identity"]
    flat = _flat(identity.get("config", {}), "")
    for name in _SECTIONS:
        if identity.get(name) is not None:
            flat |= _flat(identity[name], name)
    if identity.get("model") is not None:
        flat["model file"] = identity.get("model_sha256")
    for strategy, contestant in identity.get("contestants", {}).items():
        flat |= _flat(contestant, f"strategy {strategy}")
    if "arena" in identity:
        flat["arena"] = identity["arena"]
    return flat


def _machine(manifest: Mapping[str, Any]) -> dict[str, Any]:
    machine = manifest.get("machine", {})
    return {f"machine.{name}": machine[name] for name in ("processor", "cores_usable", "gpus") if name in machine}


def _flat(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {place: value}
    flat: dict[str, Any] = {}
    for name, inside in value.items():
        flat |= _flat(inside, f"{place}.{name}" if place else str(name))
    return flat


def _shown(value: object) -> str:
    text = "none" if value is None else str(value)
    digits = text.rpartition(":")[2]
    is_hash = len(digits) > 2 * _HASH_CHARS and all(one in "0123456789abcdef" for one in digits)
    return f"{digits[:_HASH_CHARS]}..." if is_hash else text


def repeated_cells(runs: Sequence[tuple[str, PastRun]]) -> Iterator[str]:
    """One sentence per group of runs that have the same cells: what their differences mean."""
    lines: dict[str, dict[str, str | None]] = {}
    for label, run in runs:
        for planned in run.plan.cells:
            key = planned.cell.key
            lines.setdefault(key, {})[label] = run.manifest.get("lines", {}).get(key)
    groups = Counter(
        (tuple(stated), len(set(stated.values())) == 1 and None not in stated.values())
        for stated in lines.values()
        if len(stated) > 1
    )
    for (labels, alike), count in groups.items():
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        meaning = (
            "made under the same settings, code and prompts: what differs between those rows is the noise of a rerun"
            if alike
            else "by name the same, and not made under the same settings, code and prompts: see what differs"
        )
        yield f"{cells} in {' and '.join(labels)}, {meaning}."
