"""`arena compare`: from run folders to one leaderboard. Asks no model and writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arena.config import fingerprint
from arena.errors import ConfigError, RunStoreError
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.leaderboard.validity import index_facts
from arena.scoring import ScoreTable
from arena.store import RunStore
from arena.types import Tier
from experiments.comparing.compared import Compared, ComparedRun
from experiments.comparing.differences import differences, price_differences, repeated_cells
from experiments.comparing.joining import join_tables
from experiments.comparing.opening import judge_shas, open_alike
from experiments.comparing.shared_questions import share_questions
from experiments.run.process import resume_command
from experiments.run.scoring import PastRun, score_run
from experiments.terminal.progress import Reporter

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
    for label, run in runs.items():
        if run.n_missing:
            reporter.warn(
                f"run {label!r} is not finished: {run.n_missing} of {len(run.plan.keys())} answers are missing; this "
                f"is what there is, and {resume_command(run.store)} finishes it"
            )
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
