"""One `arena run`, from a config to a leaderboard, and its continuation after a stop."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from pydantic import ValidationError

from arena.config import tracking_uri
from arena.errors import RunStoreError, TrackingError
from arena.report.leaderboard import Leaderboard, build_leaderboard
from arena.runner import plan_keys
from arena.scoring import score_records
from arena.store import FINISHED, Key, RunStore, key_of
from arena.tracking import track
from experiments.asking import complete
from experiments.clock import now
from experiments.manifest import differences, model_warnings, new_manifest, run_fingerprint
from experiments.prepared import Prepared
from experiments.progress import Reporter
from experiments.spending import price_table


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run."""

    store: RunStore
    board: Leaderboard
    max_failure_share: float
    mlflow: bool

    @property
    def too_many_failures(self) -> bool:
        """Whether failed questions, over all questions of all cells, exceed the allowed share."""
        asked = sum(cell.n_questions for cell in self.board.cells)
        return sum(cell.n_failed for cell in self.board.cells) > self.max_failure_share * asked


def start(prepared: Prepared, reporter: Reporter) -> Outcome:
    """Run from the beginning. The folder is made once the model answers, so that a bad address leaves none."""
    config = prepared.config
    run_id = config.run_id or f"{now()[:19].replace(':', '')}-{run_fingerprint(prepared.identity)[-6:]}"
    store = RunStore(config.runs_dir / run_id)
    manifest = new_manifest(config, prepared.lineup.dataset, prepared.equipment, prepared.identity)
    with closing(prepared):
        complete(prepared, store, lambda: store.creating(manifest), reporter)
    return _conclude(prepared, store, reporter)


def resume(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Continue a run where it stopped, under exactly its own settings; a finished one is only derived anew.

    Raises:
        RunStoreError: something that can change a result is not what it was; the message lists what.
    """
    if changed := differences(store.manifest()["identity"], prepared.identity):
        raise RunStoreError(
            f"run {store.run_id!r} cannot be continued, these settings differ: {'; '.join(changed)}. "
            "Restore them, or start a new run without --resume"
        )
    if store.done() >= set(plan_keys(prepared.seats)):
        reporter.say("nothing is left to ask")
    else:
        with closing(prepared):
            complete(prepared, store, store.writing, reporter)
    return _conclude(prepared, store, reporter)


def read_leaderboard(store: RunStore) -> Leaderboard:
    """The leaderboard of a finished run, as its file has it."""
    try:
        return Leaderboard.model_validate_json(store.leaderboard_json())
    except ValidationError as error:
        raise RunStoreError(
            f"leaderboard.json of run {store.run_id!r} is damaged, or of another version ({error.error_count()} "
            f"problems): derive it anew with arena run --resume --run-id {store.run_id}"
        ) from None


def track_outcome(outcome: Outcome, reporter: Reporter) -> str | None:
    """Copy a run to MLflow, once; the MLflow run's id (None: MLflow could not be written, which was said)."""
    store = outcome.store
    known = store.manifest().get("mlflow_run")
    if isinstance(known, str):
        return known
    reporter.say("logging to MLflow ...")
    try:
        mlflow_run = track(store, outcome.board, tracking_uri())
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the run folder has everything")
        return None
    store.write_manifest(store.manifest() | {"mlflow_run": mlflow_run})
    return mlflow_run


def _conclude(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Order the journal, and derive scores, leaderboard and the final manifest from it."""
    config, dataset, keys = prepared.config, prepared.lineup.dataset, plan_keys(prepared.seats)
    planned: set[Key] = set(keys)
    with store.writing():
        store.seal(keys)
        manifest = store.manifest()
        prices = price_table(config, manifest["started"])
        table = score_records((record for record in store.records() if key_of(record) in planned), dataset, prices)
        board = build_leaderboard(
            table,
            dataset,
            run_id=store.run_id,
            fingerprint=run_fingerprint(prepared.identity),
            tiers=prepared.lineup.tiers,
            seed=config.seed,
            prices=prices,
        )
        store.write_calls()
        store.write_scores(table.rows())
        store.write_leaderboard(board.model_dump_json(indent=2))
        warnings = model_warnings(store.records())
        for warning in warnings:
            reporter.warn(warning)
        if manifest["status"] != FINISHED:
            store.write_manifest(manifest | {"status": FINISHED, "finished": now(), "warnings": warnings})
    return Outcome(store, board, config.max_failure_share, config.mlflow)
