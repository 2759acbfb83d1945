"""Asking what is left to ask of a run, and what is kept when that is stopped."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass

import anyio

from arena.errors import RunInterrupted, RunStoreError, UserError
from arena.journal import JournalWriter
from arena.llm import LLMClient, open_model
from arena.llm.budget import Budget
from arena.runner import plan_keys, run
from arena.store import RUNNING, STOPPED, RunStore
from arena.types import RunRecord
from experiments.compose import contestants
from experiments.equipment import fetch_weights
from experiments.held_back import HeldBack
from experiments.prepared import Prepared
from experiments.progress import Reporter
from experiments.spending import open_budget, reply_cache, spent_note

OpenJournal = Callable[[], AbstractContextManager[JournalWriter]]


@dataclass(slots=True)
class _Session:
    """One process's work on a run: how far it got, for whoever has to say so."""

    total: int
    begun: bool = False
    finished: int = 0
    interrupted: bool = False
    budget: Budget | None = None


def complete(prepared: Prepared, store: RunStore, open_journal: OpenJournal, reporter: Reporter) -> None:
    """Ask what is left to ask.

    Raises:
        RunInterrupted: it was stopped after it had begun, by the user or by an error that only the user can mend.
        UserError: such an error before it had begun; nothing was asked.
    """
    session = _Session(total=len(plan_keys(prepared.seats)))
    try:
        anyio.run(_ask, prepared, store, open_journal, session, reporter)
    except UserError as error:
        if session.begun:
            raise RunInterrupted(f"{error}\n{_kept(store, session)}") from error
        raise
    if session.interrupted:
        raise RunInterrupted(f"stopped; {_kept(store, session)}" if session.begun else "stopped; nothing was begun")


def _kept(store: RunStore, session: _Session) -> str:
    """What is done and how to go on; the run is marked as stopped, with what it has spent."""
    again = f"arena run --resume --run-id {store.run_id} --runs-dir {shlex.quote(str(store.folder.parent))}"
    spent = spent_note(session.budget) if session.budget else {}
    with suppress(RunStoreError):  # the folder may be what went wrong
        store.write_manifest(store.manifest() | {"status": STOPPED} | spent)
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
                session.budget = open_budget(config, store)
                model = await _model(prepared, session.budget, stack, reporter)
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
            records = HeldBack(keep, config.llm.breaker_failures)
            await run(entrants, done=done, keep=records.take, concurrency=config.concurrency)
            records.release()


async def _model(prepared: Prepared, budget: Budget, stack: AsyncExitStack, reporter: Reporter) -> LLMClient:
    settings = prepared.config.llm
    opened = open_model(
        settings,
        weights=lambda name: fetch_weights(name, reporter),
        cache=stack.enter_context(reply_cache(settings)),
        budget=budget,
        content_sha256=prepared.identity["model_sha256"],
    )
    return await stack.enter_async_context(opened)


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
