"""One `arena run`, from a config to a leaderboard, and its continuation after a stop."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from pydantic import ValidationError

from arena.config import RunConfig, tracking_uri
from arena.errors import RunInterrupted, RunStoreError, TrackingError, UserError
from arena.journal import JournalWriter
from arena.llm import open_model
from arena.report.leaderboard import Leaderboard, build_leaderboard
from arena.runner import plan_keys, run
from arena.scoring import score_records
from arena.store import FINISHED, RUNNING, STOPPED, Key, RunStore, key_of
from arena.tracking import track
from arena.types import RunRecord
from experiments.compose import Lineup, Seat, contestants, line_up, seats
from experiments.equipment import Equipment, fetch_weights, model_sha256, ready_equipment
from experiments.manifest import differences, identity, new_manifest, now, run_fingerprint
from experiments.progress import Reporter

OpenJournal = Callable[[], AbstractContextManager[JournalWriter]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config with everything ready to ask the first question."""

    config: RunConfig
    lineup: Lineup
    seats: tuple[Seat, ...]
    equipment: Equipment | None
    identity: Mapping[str, Any]

    def close(self) -> None:
        """Give the index back; local mode lets nobody else open it before."""
        if self.equipment is not None:
            self.equipment.retriever.close()


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


def prepare(config: RunConfig, reporter: Reporter) -> Prepared:
    """Check every name, load the data, fetch weights, open or build the index. Asks no model anything."""
    lineup = line_up(config)
    for name in lineup.skipped:
        reporter.warn(f"{name} is left out: no question of the sample has gold documents")
    weights = model_sha256(config.llm, reporter) if lineup.needs_model else None
    equipment = None
    if lineup.needs_index:
        equipment = ready_equipment(config, lineup.dataset, reporter, rerank=lineup.needs_reranker)
    seated = seats(config, lineup, equipment)
    fields = identity(config, lineup.dataset, seated, equipment, weights)
    return Prepared(config, lineup, seated, equipment, fields)


def start(prepared: Prepared, reporter: Reporter) -> Outcome:
    """Run from the beginning. The folder is made once the model answers, so that a bad address leaves none."""
    config = prepared.config
    run_id = config.run_id or f"{now()[:19].replace(':', '')}-{run_fingerprint(prepared.identity)[-6:]}"
    store = RunStore(config.runs_dir / run_id)
    manifest = new_manifest(config, prepared.lineup.dataset, prepared.equipment, prepared.identity)
    with closing(prepared):
        _complete(prepared, store, lambda: store.creating(manifest), reporter)
    return _conclude(prepared, store)


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
            _complete(prepared, store, store.writing, reporter)
    return _conclude(prepared, store)


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


@dataclass(slots=True)
class _Session:
    """One process's work on a run: how far it got, for whoever has to say so."""

    total: int
    begun: bool = False
    finished: int = 0
    interrupted: bool = False


def _complete(prepared: Prepared, store: RunStore, open_journal: OpenJournal, reporter: Reporter) -> None:
    """Ask what is left to ask."""
    keys = plan_keys(prepared.seats)
    session = _Session(total=len(keys))
    try:
        anyio.run(_ask, prepared, store, open_journal, session, reporter)
    except UserError as error:
        if session.begun:
            raise RunInterrupted(f"{error}\n{_kept(store, session)}") from error
        raise
    if session.interrupted:
        raise RunInterrupted(f"stopped; {_kept(store, session)}" if session.begun else "stopped; nothing was begun")


def _kept(store: RunStore, session: _Session) -> str:
    """What is done and how to go on; the run is marked as stopped."""
    again = f"arena run --resume --run-id {store.run_id} --runs-dir {shlex.quote(str(store.folder.parent))}"
    with suppress(RunStoreError):  # the folder may be what went wrong
        store.write_manifest(store.manifest() | {"status": STOPPED})
    return f"{session.finished} of {session.total} answers are kept in {str(store.folder)!r}; continue with: {again}"


async def _ask(
    prepared: Prepared, store: RunStore, open_journal: OpenJournal, session: _Session, reporter: Reporter
) -> None:
    """Open the model, then the folder, and ask every question that has no record yet."""
    config, lineup = prepared.config, prepared.lineup
    with anyio.CancelScope() as scope:
        async with AsyncExitStack() as stack:
            stack.enter_context(_stopping(scope, session))
            model = None
            if lineup.needs_model:
                opened = open_model(config.llm, weights=lambda name: fetch_weights(name, reporter))
                model = await stack.enter_async_context(opened)
            writer = stack.enter_context(open_journal())
            session.begun = True
            store.write_manifest(store.manifest() | {"status": RUNNING})
            done = store.done()
            session.finished = len(done & set(plan_keys(prepared.seats)))
            advance = stack.enter_context(reporter.items("answers"))

            def keep(record: RunRecord) -> None:
                writer.append(record)
                session.finished += 1
                advance(session.finished, session.total)

            retriever = prepared.equipment.retriever if prepared.equipment else None
            entrants = contestants(prepared.seats, lineup.dataset, retriever, model)
            await run(entrants, done=done, keep=keep, concurrency=config.concurrency)


@contextmanager
def _stopping(scope: anyio.CancelScope, session: _Session) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C give up what is in flight and keep what is done.

    A Ctrl-C that is ignored, as in a background job of a script, stays ignored.
    """

    def stop() -> None:
        session.interrupted = True
        scope.cancel()

    loop = asyncio.get_running_loop()
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _conclude(prepared: Prepared, store: RunStore) -> Outcome:
    """Order the journal, and derive scores, leaderboard and the final manifest from it."""
    config, dataset, keys = prepared.config, prepared.lineup.dataset, plan_keys(prepared.seats)
    planned: set[Key] = set(keys)
    with store.writing():
        store.seal(keys)
        table = score_records((record for record in store.records() if key_of(record) in planned), dataset)
        board = build_leaderboard(
            table,
            dataset,
            run_id=store.run_id,
            fingerprint=run_fingerprint(prepared.identity),
            tiers=prepared.lineup.tiers,
            seed=config.seed,
        )
        store.write_calls()
        store.write_scores(table.rows())
        store.write_leaderboard(board.model_dump_json(indent=2))
        manifest = store.manifest()
        if manifest["status"] != FINISHED:
            store.write_manifest(manifest | {"status": FINISHED, "finished": now()})
    return Outcome(store, board, config.max_failure_share, config.mlflow)
