"""One `arena run`, from a config to a leaderboard, and its continuation after a stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import anyio

from arena.config import RunConfig, tracking_uri
from arena.errors import RunInterrupted, RunStoreError, UserError
from arena.llm import open_model
from arena.report.leaderboard import Leaderboard, build_leaderboard
from arena.runner import plan_keys, run
from arena.scoring import score_records
from arena.store import FINISHED, RUNNING, STOPPED, Key, RunStore
from arena.tracking import TrackingError, track
from arena.types import RunRecord
from experiments.compose import Lineup, contestants, line_up
from experiments.equipment import ReadyIndex, fetch_weights, model_sha256, ready_index
from experiments.manifest import differences, identity, new_manifest, now, run_fingerprint
from experiments.progress import Reporter


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config with everything ready to ask the first question."""

    config: RunConfig
    lineup: Lineup
    index: ReadyIndex | None
    identity: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run. `mlflow_run` is None when MLflow was off or could not be written."""

    store: RunStore
    board: Leaderboard
    mlflow_run: str | None
    max_failure_share: float

    @property
    def too_many_failures(self) -> bool:
        """Whether failed questions, over all questions of all cells, exceed the allowed share."""
        asked = sum(cell.n_questions for cell in self.board.cells)
        return sum(cell.n_failed for cell in self.board.cells) > self.max_failure_share * asked


def prepare(config: RunConfig, reporter: Reporter) -> Prepared:
    """Check every name, load the data, fetch weights, open or build the index. Asks no model anything."""
    lineup = line_up(config)
    weights = model_sha256(config.llm, reporter) if lineup.needs_model else None
    index = ready_index(lineup.dataset, config.embedder, reporter) if lineup.needs_index else None
    fields = identity(config, lineup.dataset, lineup.asked, index.identity if index else None, weights)
    return Prepared(config, lineup, index, fields)


def start(prepared: Prepared, reporter: Reporter) -> Outcome:
    """Run from the beginning. The folder is made once the model answers, so that a bad address leaves none."""

    def new_store() -> RunStore:
        config = prepared.config
        run_id = config.run_id or f"{now()[:19].replace(':', '')}-{run_fingerprint(prepared.identity)[-6:]}"
        store = RunStore.create(config.runs_dir, run_id)
        store.write_manifest(new_manifest(config, prepared.lineup.dataset, prepared.identity))
        return store

    return _complete(prepared, new_store, reporter)


def resume(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Continue a run where it stopped, under exactly its own settings.

    Raises:
        RunStoreError: something that can change a result is not what it was; the message lists what.
    """
    if changed := differences(store.manifest()["identity"], prepared.identity):
        raise RunStoreError(
            f"run {store.run_id!r} cannot be continued, these settings differ: {'; '.join(changed)}. "
            "Restore them, or start a new run without --resume"
        )
    return _complete(prepared, lambda: store, reporter)


@dataclass(slots=True)
class _Session:
    """One process's work on a run: how far it got, for whoever has to say so."""

    total: int
    store: RunStore | None = None
    finished: int = 0


def _complete(prepared: Prepared, open_store: Callable[[], RunStore], reporter: Reporter) -> Outcome:
    """Ask what is left to ask, then derive everything else from the journal."""
    keys = plan_keys(prepared.lineup.entries)
    session = _Session(total=len(keys))
    try:
        with _sigterm_as_interrupt():
            anyio.run(_ask, prepared, open_store, set(keys), session, reporter)
    except (KeyboardInterrupt, UserError) as stop:
        if session.store is None:
            raise
        session.store.write_manifest(session.store.manifest() | {"status": STOPPED})
        raise _stopped(stop, session.store, session.finished, session.total) from None
    assert session.store is not None
    with session.store.writing():
        session.store.seal(keys)
        return _conclude(prepared, session.store, reporter)


async def _ask(
    prepared: Prepared, open_store: Callable[[], RunStore], keys: set[Key], session: _Session, reporter: Reporter
) -> None:
    """Open the model, then the folder, and ask every question that has no record yet."""
    config, lineup = prepared.config, prepared.lineup
    async with AsyncExitStack() as stack:
        model = None
        if lineup.needs_model:
            opened = open_model(config.llm, weights=lambda name: fetch_weights(name, reporter))
            model = await stack.enter_async_context(opened)
        store = open_store()
        writer = stack.enter_context(store.writing())
        session.store = store
        store.write_manifest(store.manifest() | {"status": RUNNING})
        done = store.done() & keys
        session.finished = len(done)
        advance = stack.enter_context(reporter.items("questions"))

        def keep(record: RunRecord) -> None:
            writer.append(record)
            session.finished += 1
            advance(session.finished, session.total)

        entrants = contestants(lineup, prepared.index.retriever if prepared.index else None, model)
        await run(entrants, done=done, keep=keep, concurrency=config.concurrency)


def _stopped(stop: BaseException, store: RunStore, finished: int, total: int) -> UserError:
    """What stopped the run, and how to continue it."""
    kept = f"{finished} of {total} questions are kept in {str(store.folder)!r}"
    again = f"arena run --resume --run-id {store.run_id} --runs-dir {store.folder.parent}"
    if isinstance(stop, UserError):
        return type(stop)(f"{stop}\n{kept}; then continue with: {again}")
    return RunInterrupted(f"stopped; {kept}; continue with: {again}")


def _conclude(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Scores, leaderboard and manifest into the folder, then a copy of it all into MLflow."""
    config, lineup = prepared.config, prepared.lineup
    table = score_records(store.records(), lineup.dataset)
    board = build_leaderboard(
        table,
        lineup.dataset,
        run_id=store.run_id,
        fingerprint=run_fingerprint(prepared.identity),
        tiers=lineup.tiers,
        seed=config.seed,
    )
    store.write_calls()
    store.write_scores(table.rows())
    store.write_leaderboard(board.model_dump_json(indent=2))
    store.write_manifest(store.manifest() | {"status": FINISHED, "finished": now()})
    mlflow_run = _track(store, board, reporter) if config.mlflow else None
    return Outcome(store, board, mlflow_run, config.max_failure_share)


def _track(store: RunStore, board: Leaderboard, reporter: Reporter) -> str | None:
    reporter.say("logging to MLflow ...")
    try:
        return track(store, board, tracking_uri())
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the run folder has everything")
        return None


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does: what is done is kept, and how to continue is said."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
