"""`arena gate`: from two run folders and a policy to a verdict. Asks no model and writes nothing.

The notes of a verdict say what was changed between the runs, and what was not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.errors import ConfigError, RunStoreError, hint
from arena.leaderboard.guards import check_cells
from arena.leaderboard.metrics import QuestionResamples
from arena.plan import PlannedCell
from arena.report.names import name_of
from arena.scoring import ScoreTable
from arena.store import RunStore
from arena.types import grouped
from experiments.execution.identity import changes
from experiments.execution.manifest import listed
from experiments.execution.scoring import PastRun, score_run
from experiments.studies.compare.compare import judge_shas, on_questions, open_alike
from experiments.studies.gate.cells import Pairing, ScoredCell, changed_settings, pair_cells
from experiments.studies.gate.checks import Check, GateVerdict, failing_checks, floor_checks
from experiments.studies.gate.margins import margin_checks
from experiments.studies.gate.policy import ALONE, Policy, names_of, read_policy


def notes_on(run: PastRun, old: PastRun, pairing: Pairing, shared: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """One sentence each."""
    cells = [planned.cell for planned in run.plan.cells]
    changed = grouped(
        (", ".join(settings), name_of(new.cell, cells))
        for new, before in pairing.pairs
        if (settings := changed_settings(new.cell, before.cell))
    )
    for lines, names in changed.items():
        yield f"Changed in {', '.join(names)}: {lines}."
    if identity := _identity_changes(run, old):
        yield f"The runs differ in {listed(identity)}."
    for new, before in pairing.pairs:
        common = len(shared[new.cell.key])
        if common < max(len(new.question_ids), len(before.question_ids)):
            yield f"{name_of(new.cell, cells)} is compared on {common} common questions."
    if pairing.added:
        added = ", ".join(name_of(planned.cell, cells) for planned in pairing.added)
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


def gate_run(run_folder: Path, baseline: Path | None, policy: Path | None, data_at: str | None = None) -> GateVerdict:
    """Judge a run.

    Args:
        run_folder: the run.
        baseline: what it must not be worse than; None: only floors and ceilings are checked.
        policy: YAML file (None: MARGINS with a baseline, the floors of ALONE without).
        data_at: where the dataset of both lies now (None: where the settings of the first say).

    Raises:
        ConfigError: the policy cannot be read, means a cell that is not there, or asks nothing; cells cannot be paired.
        RunStoreError: a run is not finished, or they were asked of other data or other questions.
    """
    asked = read_policy(policy) if policy else ALONE if baseline is None else Policy()
    if baseline is None and not asked.has_floors:
        raise ConfigError(
            f"nothing to check: policy {str(policy)!r} has neither floors nor ceilings; name some, or a --baseline"
        )
    runs = open_alike([RunStore.open(folder, data_at) for folder in (run_folder, baseline) if folder is not None])
    for unfinished in filter(None, (run.unfinished for run in runs)):
        raise RunStoreError(f"{unfinished}, then gate it")
    run, old_run = runs[0], runs[1] if len(runs) > 1 else None
    _check_cells(asked, run)
    pairing = pair_cells(run.plan.cells, old_run.plan.cells, asked.pairs) if old_run else None
    verdict = GateVerdict(run_folder, baseline, asked, policy, ())
    if old_run is None or pairing is None:
        return replace(verdict, checks=tuple(floor_checks(_labelled(run, score_run(run)), asked)))
    return _against(verdict, run, old_run, pairing)


def _against(verdict: GateVerdict, run: PastRun, old_run: PastRun, pairing: Pairing) -> GateVerdict:
    policy = verdict.policy
    if not pairing.pairs:
        raise ConfigError(
            f"run {run.store.run_id!r} and baseline {old_run.store.run_id!r} have no cell of one strategy and mode: "
            "nothing can be compared"
        )
    shared = {new.cell.key: _shared(new, old, policy) for new, old in pairing.pairs}
    table, old_table = score_run(run), score_run(old_run)
    new_table = table
    if policy.common_questions:
        old_keys = {old.cell.key: shared[new.cell.key] for new, old in pairing.pairs}
        new_table, old_table = score_run(on_questions(run, shared)), score_run(on_questions(old_run, old_keys))
    new_cells, old_cells = _scored(run, new_table), _scored(old_run, old_table)
    cells = [one.cell for one in run.plan.cells]
    pairs = [(name_of(new.cell, cells), new_cells[new.cell.key], old_cells[old.cell.key]) for new, old in pairing.pairs]
    resamples = QuestionResamples(run.dataset.questions, run.config.seed)
    checks = [
        *_gone(pairing.gone, policy),
        *failing_checks(pairs, policy),
        *margin_checks(pairs, policy, resamples, run.config.seed),
        *floor_checks(_labelled(run, table), policy),
    ]
    return replace(verdict, checks=tuple(checks), notes=tuple(notes_on(run, old_run, pairing, shared)))


def _scored(run: PastRun, table: ScoreTable) -> dict[str, ScoredCell]:
    guards, judges = check_cells(table), judge_shas(run, table)
    return {cell.cell.key: ScoredCell(cell, guards[cell.cell.key], judges) for cell in table.cells}


def _labelled(run: PastRun, table: ScoreTable) -> list[tuple[str, ScoredCell]]:
    cells = [one.cell for one in run.plan.cells]
    return [(name_of(scored.cell.cell, cells), scored) for scored in _scored(run, table).values()]


def _gone(gone: Sequence[PlannedCell], policy: Policy) -> list[Check]:
    cells, why = [one.cell for one in gone], "the baseline has it, and the run does not"
    return [Check(name_of(cell, cells), "cell", "missing", policy.missing, why) for cell in cells]


def _shared(new: PlannedCell, old: PlannedCell, policy: Policy) -> tuple[str, ...]:
    """The questions that both cells were asked; those of the run if they must be the same, which they are then."""
    asked, before = set(new.question_ids), set(old.question_ids)
    if asked == before:
        return new.question_ids
    common = tuple(one for one in new.question_ids if one in before)
    if policy.common_questions and common:
        return common
    only = [f"{len(ids)} in the {whose} alone ({min(ids)!r}, ...)" for ids, whose in
            ((asked - before, "run"), (before - asked, "baseline")) if ids]  # fmt: skip
    hint = "" if policy.common_questions else "; common_questions: true in the policy compares those that both were"
    raise RunStoreError(
        f"cell {new.cell.key} of the run and {old.cell.key} of the baseline were not asked the same questions: "
        f"{len(common)} in both, {', '.join(only)}{hint}"
    )


def _check_cells(policy: Policy, run: PastRun) -> None:
    known = dict.fromkeys(name for planned in run.plan.cells for name in names_of(planned.cell))
    for name in policy.cells:
        if name not in known:
            raise ConfigError(f"the policy limits cell {name!r}, which the run does not have: {hint(name, (*known,))}")
