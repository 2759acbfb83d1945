"""Asking what is left to ask of a run, and what is kept when that is stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial

import anyio

from arena.errors import ConfigError, RunInterrupted, RunStoreError, UserError
from arena.llm.limits import Budget
from arena.report.names import names_of
from arena.runner import Keep, plan_keys, run
from arena.store import STOPPED, RunStore
from arena.store.journal import JournalWriter
from arena.types import RunRecord
from experiments.costs.sample_size import sample_size_note
from experiments.costs.spending import open_budget, paying, price_table
from experiments.judging.run import judge_on_trial
from experiments.process.clock import now
from experiments.process.collecting import short_pauses
from experiments.process.keeping import keeper
from experiments.process.resuming import resume_command, way_on
from experiments.process.stopping import until_stopped
from experiments.runs.held_back import HeldBack
from experiments.setup.entrants import open_entrants
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter
from experiments.terminal.run_progress import Note
from experiments.terminal.run_tally import CellTally, RunTally

OpenJournal = Callable[[], AbstractContextManager[JournalWriter[RunRecord]]]


@dataclass(slots=True)
class _Session:
    """One process's work on a run: how far it got, for whoever has to say so."""

    budget: Budget
    tally: RunTally
    begun: bool = False


def complete(prepared: Prepared, store: RunStore, open_journal: OpenJournal, reporter: Reporter) -> None:
    """Ask what has no record yet, and what is to be asked again.

    Raises:
        RunInterrupted: it was stopped after it had begun, by the user or by an error that only the user can mend.
        UserError: such an error before it had begun; nothing was asked.
    """
    _refuse_an_empty_index(prepared)
    session = _Session(open_budget(prepared.config, store), _tally(prepared, store))
    try:
        stopped = anyio.run(_ask, prepared, store, open_journal, session, reporter)
    except UserError as error:
        if session.begun:
            raise RunInterrupted(f"{error}\n{_kept(store, session)}") from error
        raise
    if stopped:
        raise RunInterrupted(f"stopped; {_kept(store, session)}" if session.begun else "stopped; nothing was begun")


def _refuse_an_empty_index(prepared: Prepared) -> None:
    if prepared.equipment is not None and not prepared.equipment.index_facts["passages"]:
        raise ConfigError(
            f"the index of {prepared.lineup.dataset.name!r} holds no passage, and every retrieval would come back "
            "empty: give the dataset documents"
        )


def _kept(store: RunStore, session: _Session) -> str:
    """What is done and how to go on; the run is marked as stopped."""
    with suppress(RunStoreError), store.holding():  # the folder may be what went wrong
        store.write_manifest(store.manifest() | {"status": STOPPED})
    whole = session.tally.whole
    kept = f"{whole.done} of {whole.total} answers are kept in {str(store.folder)!r}"
    return way_on(store, kept, resume_command(store))


async def _ask(
    prepared: Prepared, store: RunStore, open_journal: OpenJournal, session: _Session, reporter: Reporter
) -> bool:
    """Open the model, then the folder, and ask every question that has no record yet; whether that was stopped."""
    config = prepared.config
    with until_stopped() as scope:
        async with AsyncExitStack() as stack:
            entrants = await stack.enter_async_context(open_entrants(prepared, session.budget, reporter))
            # The judge is opened before the folder is made, so that a bad address leaves none, and paid after it.
            async with judge_on_trial(config, session.budget, reporter) as can_judge:
                stack.enter_context(short_pauses())
                writer = stack.enter_context(open_journal())
                session.begun = True
                ledger = stack.enter_context(paying(session.budget, store))
                await can_judge()
            reporter.say(sample_size_note(len(seat.questions) for seat in prepared.seats))
            note = stack.enter_context(reporter.answers(session.tally))
            records = HeldBack(_keeper(keeper(writer, ahead=ledger.sync), note), config.llm.breaker_failures)
            await run(
                entrants,
                done=store.done() - prepared.again,
                keep=records.take,
                concurrency=config.concurrency,
                timeout_seconds=config.question_timeout_seconds,
                health_check=config.health_check,
            )
            await records.release()
    return scope.cancel_called


def _keeper(append: Keep, note: Note) -> Keep:
    """Appends records to the journal and notes each once it is there."""

    async def keep(record: RunRecord) -> None:
        await append(record)
        note(record)

    return keep


def _tally(prepared: Prepared, store: RunStore) -> RunTally:
    """Where every cell stands before anything is asked."""
    seats, done = prepared.seats, store.done() - prepared.again
    _, names = names_of([seat.cell for seat in seats])
    kept = dict.fromkeys((seat.cell.key for seat in seats), 0)
    for key in plan_keys(seats):
        kept[key[0]] += key in done
    cells = {
        key: CellTally(name, len(seat.questions), kept[key]) for seat, name, key in zip(seats, names, kept, strict=True)
    }
    prices = price_table(prepared.config, now())
    return RunTally(cells, partial(prices.usd, base_url=prepared.config.llm.base_url))
