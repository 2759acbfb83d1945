"""One `arena run`, from a config to a leaderboard, and its continuation after a stop."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from pydantic import ValidationError

from arena.config import tracking_uri
from arena.errors import RunStoreError, TrackingError
from arena.leaderboard.build import Leaderboard
from arena.runner import plan_keys
from arena.store import FINISHED, LEADERBOARD, RunStore
from arena.store.journal import JournalWriter
from arena.tracking import track
from arena.types import RunRecord
from experiments.judging.run import judge_run
from experiments.manifests.extending import check_continues, extending, is_concluded
from experiments.manifests.manifest import new_manifest
from experiments.manifests.sessions import Session, working
from experiments.process.resuming import resume_command
from experiments.runs.asking import complete
from experiments.runs.finishing import finish
from experiments.runs.probing import probe_latency
from experiments.setup.identity import run_fingerprint
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run. `traces`: questions per cell that MLflow gets as traces."""

    store: RunStore
    board: Leaderboard
    max_failure_share: float
    mlflow: bool
    traces: int = 20

    @property
    def too_many_failures(self) -> bool:
        """Whether failed questions, over all questions of all cells, exceed the allowed share."""
        asked = sum(cell.n_questions for cell in self.board.cells)
        return sum(cell.n_failed for cell in self.board.cells) > self.max_failure_share * asked


def start(prepared: Prepared, reporter: Reporter) -> Outcome:
    """Run from the beginning. The folder is made once the model answers, so that a bad address leaves none."""
    config, shard = prepared.config, prepared.plan.shard
    session = Session()
    name = f"{session.started[:19].replace(':', '')}-{run_fingerprint(prepared.identity, prepared.plan)[-6:]}"
    run_id = config.run_id or (f"{name}-{shard.index}of{shard.of}" if shard else name)
    store = RunStore(config.runs_dir / run_id)
    with working(store, reporter, session), closing(prepared):
        complete(prepared, store, lambda: _creating(prepared, store, session), reporter)
        return _finish(prepared, store, reporter)


def resume(prepared: Prepared, store: RunStore, reporter: Reporter, *, retry_failed: bool = False) -> Outcome:
    """Continue a run where it stopped, under its own settings; it may be given more cells and questions.

    A finished one that is given nothing is only derived anew. `retry_failed`: ask again what failed.

    Raises:
        RunStoreError: something that can change a result is not what it was, or was left out; the message says what.
    """
    session = Session()
    with working(store, reporter, session), closing(prepared):
        check_continues(prepared, store)
        planned = set(plan_keys(prepared.seats))
        again = frozenset(store.failed() & planned) if retry_failed else frozenset()
        if not planned <= store.done() - again:
            complete(replace(prepared, again=again), store, lambda: extending(prepared, store, session), reporter)
        else:
            reporter.say("nothing is left to ask")
            if not is_concluded(prepared, store):
                with extending(prepared, store, session):
                    pass
        return _finish(prepared, store, reporter)


def read_leaderboard(store: RunStore) -> Leaderboard:
    """The leaderboard of a run that was finished once, as its file has it.

    Raises:
        RunStoreError: there is none yet, or it is damaged.
    """
    if store.manifest()["status"] != FINISHED and not (store.folder / LEADERBOARD).exists():
        raise RunStoreError(
            f"run {store.run_id!r} is not finished and has no leaderboard yet: {resume_command(store)} finishes it, "
            f"and arena score {shlex.quote(str(store.folder))} shows what there is"
        )
    try:
        return Leaderboard.model_validate_json(store.leaderboard_json())
    except ValidationError:
        raise RunStoreError(
            f"leaderboard.json of run {store.run_id!r} is damaged, or of another version: derive it anew "
            f"with arena score {shlex.quote(str(store.folder))}"
        ) from None


def staleness(store: RunStore) -> str | None:
    """What to say of the leaderboard of a run that was given more after it was finished; None: it is up to date."""
    if store.manifest()["status"] == FINISHED:
        return None
    return (
        f"run {store.run_id!r} was given more and is not finished: this is its leaderboard from before; "
        f"{resume_command(store)} finishes it"
    )


def track_outcome(outcome: Outcome, reporter: Reporter) -> str | None:
    """Copy a run to MLflow; the MLflow run's id (None: MLflow could not be written, which was said)."""
    reporter.say("logging to MLflow ...")
    try:
        tracked = track(outcome.store, tracking_uri(), traces=outcome.traces)
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the run folder has everything")
        return None
    for note in tracked.notes:
        reporter.warn(note)
    return tracked.run_id


@contextmanager
def _creating(prepared: Prepared, store: RunStore, session: Session) -> Iterator[JournalWriter[RunRecord]]:
    manifest = session.opening(new_manifest(prepared, session.started))
    with store.creating(manifest, prepared.plan) as writer:
        session.opened = True
        yield writer


def _finish(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Judge and probe what was asked, and derive everything from the journals."""
    config = prepared.config
    if config.judge is not None:
        judge_run(prepared, store, reporter)
    if config.latency_probe:
        probe_latency(prepared, store, reporter)
    board = finish(store, reporter, dataset=prepared.lineup.dataset, config=config)
    return Outcome(store, board, config.max_failure_share, config.mlflow, config.traces)
