"""Finished runs on the same data, opened to be held against each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from arena.errors import RunStoreError
from arena.plan import RunPlan
from arena.scoring import ScoreTable
from arena.store import RunStore
from experiments.run.scoring import JUDGES, PastRun, open_past_run


def open_alike(stores: Sequence[RunStore]) -> list[PastRun]:
    """Each run, scored against the same data, which is loaded once; priced alike, as on the day of the last start.

    Raises:
        RunStoreError: they were asked of other data; or as `open_past_run`.
        DatasetError: the data cannot be loaded.
    """
    asked = {store: (store.manifest()["identity"].get("dataset"), _dataset_name(store)) for store in stores}
    first = asked[stores[0]]
    for store, found in asked.items():
        if found[0] != first[0]:
            raise RunStoreError(
                f"run {stores[0].run_id!r} was asked of {first[1]!r} ({first[0]}), and run {store.run_id!r} of "
                f"{found[1]!r} ({found[0]}): only runs on the same data can be held against each other"
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
    found: dict[str, set[str]] = {}
    for count in table.judges or ():
        found.setdefault(count.metric, set()).add(count.judge_sha)
    judged = {metric: next(iter(shas)) if len(shas) == 1 else None for metric, shas in found.items()}
    return judged | dict(run.manifest.get(JUDGES, {}))


def _dataset_name(store: RunStore) -> str:
    return str(store.manifest()["config"].get("dataset"))


def _priced_like(run: PastRun, other: PastRun) -> PastRun:
    priced = run.config.model_copy(update={"prices": other.config.prices})
    return replace(run, config=priced, manifest={**run.manifest, "started": other.manifest["started"]})
