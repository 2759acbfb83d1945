"""`arena compare`: from finished runs on the same data to one leaderboard. Asks no model and writes nothing.

Runs are compared on the questions that they share. Their score tables become one, every cell marked with
its run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.config import fingerprint
from arena.errors import ConfigError, RunStoreError
from arena.judges.reading import JudgeCount
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.leaderboard.validity import index_facts
from arena.plan import PlannedCell, RunPlan
from arena.scoring import CellScores, ScoreTable
from arena.store import RunStore
from arena.types import Cell, Tier, grouped
from experiments.execution.scoring import JUDGES, PastRun, open_past_run, score_run
from experiments.studies.compare.differences import Difference, differences, price_differences, repeated_cells
from experiments.terminal.progress import Reporter


def open_alike(stores: Sequence[RunStore]) -> list[PastRun]:
    """Each run, scored against the same data, which is loaded once; priced alike, as on the day of the last start.

    Raises:
        RunStoreError: they were asked of other data; or as `open_past_run`.
        DatasetError: the data cannot be loaded.
    """
    manifests = [store.manifest() for store in stores]
    asked = [(one["config"].get("dataset"), one["identity"].get("dataset")) for one in manifests]
    for store, (name, data) in zip(stores, asked, strict=True):
        if data != asked[0][1]:
            raise RunStoreError(
                f"run {stores[0].run_id!r} was asked of {str(asked[0][0])!r} ({asked[0][1]}), and run "
                f"{store.run_id!r} of {str(name)!r} ({data}): only runs on the same data can be held against each other"
            )
    runs = [open_past_run(stores[0])]
    runs += [open_past_run(store, runs[0].dataset) for store in stores[1:]]
    last = max(runs, key=lambda run: str(run.manifest["started"]))
    return [_priced_like(run, last) for run in runs]


def on_questions(run: PastRun, wanted: Mapping[str, Collection[str]]) -> PastRun:
    """The run on some of its questions: cell key -> their ids; a cell that is left without any, or not named, goes."""
    cells = (
        replace(planned, question_ids=tuple(one for one in planned.question_ids if one in kept))
        for planned in run.plan.cells
        if (kept := set(wanted.get(planned.cell.key, ())))
    )
    return replace(run, plan=RunPlan(tuple(planned for planned in cells if planned.question_ids), run.plan.shard))


def judge_shas(run: PastRun, table: ScoreTable) -> dict[str, str | None]:
    """Metric -> the `judge_sha` of the verdicts that are its scores; None where several judged and none was chosen."""
    found = grouped((str(count.metric), count.judge_sha) for count in table.judges or ())
    judged = {metric: shas[0] if len(set(shas)) == 1 else None for metric, shas in found.items()}
    return judged | dict(run.manifest.get(JUDGES, {}))


def _priced_like(run: PastRun, other: PastRun) -> PastRun:
    priced = run.config.model_copy(update={"prices": other.config.prices})
    return replace(run, config=priced, manifest={**run.manifest, "started": other.manifest["started"]})


RUN = "run"
"""The parameter of a cell that says which run it is of, so that no two cells of two runs have one key."""


def join_tables(tables: Mapping[str, ScoreTable], withheld: Collection[str]) -> ScoreTable:
    """One table of all (run -> its table), without the metrics `withheld`, which are not the same in all runs."""
    cells = [_of_run(cell, run, withheld) for run, table in tables.items() for cell in table.cells]
    judged = [(run, table) for run, table in tables.items() if table.judges is not None]
    return ScoreTable(tuple(cells), _join_judges(judged, withheld) if judged else None)


def marked(cell: Cell, run: str) -> Cell:
    """The cell, as one of `run`."""
    return replace(cell, params={**cell.params, RUN: run})


def _of_run(cell: CellScores, run: str, withheld: Collection[str]) -> CellScores:
    scores = cell.scores
    if withheld:
        scores = {name: tuple(one for one in own if one.metric not in withheld) for name, own in scores.items()}
    return replace(cell, cell=marked(cell.cell, run), scores=scores)


def _join_judges(tables: Collection[tuple[str, ScoreTable]], withheld: Collection[str]) -> list[JudgeCount]:
    """One judge by one metric is counted once, over all runs."""
    joined: dict[tuple[str, str, str], JudgeCount] = {}
    for run, table in tables:
        keys = {cell.cell.key: marked(cell.cell, run).key for cell in table.cells}
        for count in table.judges or ():
            if count.metric in withheld:
                continue
            place = (count.judge, count.metric, count.judge_sha)
            whole = joined.setdefault(place, JudgeCount(count.judge, count.metric, count.judge_sha))
            whole.records |= {(keys[cell], asked): record for (cell, asked), record in count.records.items()}
            whole.account += count.account
            whole.rated += count.rated
            whole.split += count.split
            whole.echoed += count.echoed
    return list(joined.values())


_GROUPS = {False: "cells without a model", True: "cells with a model"}
"""A run may ask cells that call a model fewer questions (`model_limit`): each group has its own common questions."""


@dataclass(frozen=True, slots=True)
class SharedQuestions:
    """The runs on the questions they share, and a sentence for each group of cells that was cut down to them."""

    runs: Mapping[str, PastRun]
    notes: tuple[str, ...]


def share_questions(runs: Mapping[str, PastRun]) -> SharedQuestions:
    """Runs (label -> run) on the questions that all of them asked.

    Raises:
        ConfigError: there are none.
    """
    shared: dict[bool, set[str]] = {}
    notes = []
    for group, name in _GROUPS.items():
        cells = {label: [one for one in run.plan.cells if _calls_model(one) == group] for label, run in runs.items()}
        asked = {label: {one for cell in own for one in cell.question_ids} for label, own in cells.items() if own}
        if not asked:
            continue
        shared[group] = set.intersection(*asked.values())
        if not shared[group]:
            raise ConfigError(
                f"the {name} of {' and '.join(asked)} share no question: ask them again with one sample (same "
                "`sample` and `seed` in the config)"
            )
        if any(ids != shared[group] for ids in asked.values()):
            counts = ", ".join(f"{len(ids)} in {label}" for label, ids in asked.items())
            notes.append(f"The {name} are compared on {len(shared[group])} common questions: asked were {counts}.")
    cut = {
        label: on_questions(run, {one.cell.key: shared[_calls_model(one)] for one in run.plan.cells})
        for label, run in runs.items()
    }
    return SharedQuestions(cut if notes else runs, tuple(notes))


def _calls_model(planned: PlannedCell) -> bool:
    return planned.cell.llm is not None


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the runs. `name`: its id, or its folder where two have one id. `n_missing`: answers it does not have."""

    name: str
    folder: str
    fingerprint: str
    started: str
    status: str
    n_missing: int


@dataclass(frozen=True, slots=True)
class Compared:
    """All cells as one leaderboard, each marked with its run (parameter `run`), and what keeps the runs apart.

    `notes`: what a reader must know of it, one sentence each.
    """

    board: Leaderboard
    runs: tuple[ComparedRun, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


JudgeShas = Mapping[str, Mapping[str, str | None]]
"""Run -> metric -> who judged it."""


def compare_runs(folders: Sequence[Path], reporter: Reporter, data_at: str | None = None) -> Compared:
    """All cells of all runs, scored anew, on the questions that the runs share, at the prices of the last one.

    `data_at`: where their dataset lies now (None: where the settings of the first say).

    Raises:
        ConfigError: fewer than two runs, one of them twice, or they share no question.
        RunStoreError: one cannot be read, has no answers yet, or was asked of other data.
        DatasetError: the data cannot be loaded.
    """
    opened = open_alike(_stores(folders, data_at))
    runs = dict(zip(_labels(folders, opened), opened, strict=True))
    for unfinished in filter(None, (run.unfinished for run in opened)):
        reporter.warn(f"{unfinished}. This is what there is")
    shared = share_questions(runs)
    reporter.say("scoring ...")
    tables = {label: score_run(run) for label, run in shared.runs.items()}
    for label, table in tables.items():
        if not table.cells:
            raise RunStoreError(
                f"run {label!r} has no answer yet to any question compared here: finish it, or leave it out"
            )
    judges = {label: judge_shas(runs[label], table) for label, table in tables.items()}
    withheld = _other_judges(judges)
    prices = price_differences({label: run.manifest for label, run in runs.items()})
    notes = [*shared.notes, *_on_judges(withheld), *repeated_cells(list(runs.items()))]
    if prices:
        notes.append(f"All costs are at the prices of {opened[0].prices.as_of.isoformat()}, when the last run started.")
    return Compared(
        _board(runs, join_tables(tables, withheld)),
        tuple(_row(label, run) for label, run in runs.items()),
        (*differences(runs, judges), *prices),
        tuple(notes),
    )


def _stores(folders: Sequence[Path], data_at: str | None) -> list[RunStore]:
    if len(folders) < 2:
        raise ConfigError("one run is no comparison: name two run folders or more")
    places = [folder.resolve() for folder in folders]
    if repeated := [folder for folder, place in zip(folders, places, strict=True) if places.count(place) > 1]:
        raise ConfigError(f"run {str(repeated[0])!r} is named more than once: a run is not compared with itself")
    return [RunStore.open(folder, data_at) for folder in places]


def _labels(folders: Sequence[Path], runs: Sequence[PastRun]) -> list[str]:
    ids = Counter(run.store.run_id for run in runs)
    return [
        run.store.run_id if ids[run.store.run_id] == 1 else str(folder)
        for folder, run in zip(folders, runs, strict=True)
    ]


def _other_judges(judges: JudgeShas) -> dict[str, list[str]]:
    """Metric -> the runs that have it, of metrics that were not judged by one judge in all of them."""
    metrics = dict.fromkeys(metric for one in judges.values() for metric in one)
    found = {}
    for metric in metrics:
        shas = {label: one[metric] for label, one in judges.items() if metric in one}
        if len(set(shas.values())) > 1:
            found[metric] = list(shas)
    return found


def _on_judges(withheld: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for metric, labels in withheld.items():
        yield (
            f"{metric} is withheld: {' and '.join(labels)} were judged by different judges, and their scores are no "
            "common scale; judge all with one (arena judge)."
        )


def _board(runs: Mapping[str, PastRun], table: ScoreTable) -> Leaderboard:
    first = next(iter(runs.values()))
    tiers: dict[str, Tier | None] = {}
    for run in runs.values():
        tiers |= run.plan.tiers
    return build_leaderboard(
        table,
        first.dataset,
        run_id=" + ".join(runs),
        fingerprint=fingerprint("compare", {label: run.manifest["fingerprint"] for label, run in runs.items()}),
        tiers=tiers,
        seed=first.config.seed,
        prices=first.prices,
        indexes=list(dict.fromkeys(one for run in runs.values() for one in index_facts(run.manifest))),
    )


def _row(label: str, run: PastRun) -> ComparedRun:
    stated = run.store.manifest()
    return ComparedRun(
        label, str(run.store.folder), str(stated["fingerprint"]), stated["started"], stated["status"], run.n_missing
    )
