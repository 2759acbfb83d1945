"""What a reader of a verdict must know beside its checks: what was changed, and what was not compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.gating.matching import Pairing, changed_settings, label_of
from experiments.run.identity import changes
from experiments.run.scoring import PastRun

_SHOWN = 12


def notes_on(run: PastRun, old: PastRun, pairing: Pairing, shared: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """One sentence each."""
    cells = [planned.cell for planned in run.plan.cells]
    changed: dict[str, list[str]] = {}
    for new, before in pairing.pairs:
        if settings := changed_settings(new.cell, before.cell):
            changed.setdefault(", ".join(settings), []).append(label_of(new.cell, cells))
    for lines, names in changed.items():
        yield f"Changed in {', '.join(names)}: {lines}."
    if identity := _identity_changes(run, old):
        more = f" and {len(identity) - _SHOWN} more" if len(identity) > _SHOWN else ""
        yield f"The runs differ in {'; '.join(identity[:_SHOWN])}{more}."
    for new, before in pairing.pairs:
        common = len(shared[new.cell.key])
        if common < max(len(new.question_ids), len(before.question_ids)):
            yield f"{label_of(new.cell, cells)} is compared on {common} common questions."
    if pairing.added:
        added = ", ".join(label_of(planned.cell, cells) for planned in pairing.added)
        yield f"Not in the baseline, and held against floors alone: {added}."
    if _machine(run) != _machine(old):
        yield f"Seconds were measured on other machines: {_machine(old)} -> {_machine(run)}."


def _identity_changes(run: PastRun, old: PastRun) -> list[str]:
    """As far as both manifests say what the runs were made under."""
    before, after = old.manifest["identity"], run.manifest["identity"]
    if not ("contestants" in before and "contestants" in after):
        return []
    return [line.removeprefix("config.") for line in changes(before, after)]


def _machine(run: PastRun) -> str:
    machine = run.manifest.get("machine", {})
    return f"{machine.get('processor')}, {machine.get('cores_usable')} cores"
