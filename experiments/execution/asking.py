"""Ask what is left to ask of a run, and probe its latency.

When the run is stopped, what is done is kept and the message says how to go on. Questions that failed while the
provider may have been down wait in `OutageBuffer`. The latency probe asks some questions once more, one at a time, for
what a lone user would wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from arena.config import RunConfig
from arena.errors import ConfigError, ModelCallError, ProviderDownError, RunStoreError, SystemCallError
from arena.llm.limits import Budget
from arena.report.names import names_of
from arena.runner import Keep, plan_keys, run
from arena.sampling import sample
from arena.store import STOPPED, RunStore, key_of
from arena.store.journal import JournalWriter
from arena.store.runs import resume_command, way_on
from arena.types import OWN_MODE, Question, RunRecord
from experiments.execution.budget import open_budget, paying, price_table, sample_size_note
from experiments.execution.judging import judge_on_trial
from experiments.execution.prepare import Prepared, open_contestants
from experiments.execution.process import keeper, now, short_pauses, to_the_end, until_stopped
from experiments.terminal.progress import CellCounts, Reporter, RunCounts


class OutageBuffer:
    """Hands records on to `keep`; one that failed for want of a reply only once the provider has replied again.

    Those of the model are held apart from those of each system of the user's own. A provider that goes down fails some
    questions before the breaker stops the run. They are no result: whoever drops this object without `release` leaves
    them without a record, and they are asked again when the run goes on.
    """

    def __init__(self, keep: Keep, most: int) -> None:
        """`most`: held at once; what so many failures have not stopped the run for is a result."""
        self._keep = keep
        self._most = most
        self._held: dict[str | None, deque[RunRecord]] = {}

    async def take(self, record: RunRecord) -> None:
        """Keep `record`, or hold it back.

        Raises:
            ProviderDownError: more than `most` questions in a row were given up without a single reply. The breaker
                does not see them: their calls were given up with them, and have neither failed nor succeeded.
        """
        held = self._held.setdefault(_asked(record), deque())
        if _lacks_reply(record):
            held.append(record)
            if len(held) > self._most:
                if all(_given_up(one) and not _replied(one) for one in held):
                    raise ProviderDownError(_silent(held))
                await self._keep(held.popleft())
            return
        if _replied(record):
            await self._release(held)
        await self._keep(record)

    async def release(self) -> None:
        """Keep all that is held."""
        for held in self._held.values():
            await self._release(held)

    async def _release(self, held: deque[RunRecord]) -> None:
        while held:
            await self._keep(held.popleft())


def _asked(record: RunRecord) -> str | None:
    """The system of the user's own that was asked; None = the model of all strategies."""
    return record.cell.strategy if record.cell.retrieval_mode == OWN_MODE else None


def _replied(record: RunRecord) -> bool:
    return any(call.error is None and not call.replayed for call in record.calls)


def _lacks_reply(record: RunRecord) -> bool:
    """Whether the last that it waited for may have been a reply that did not come."""
    kinds = (ModelCallError.__name__, SystemCallError.__name__)
    failed_call = record.failure is not None and record.failure.type in kinds
    return failed_call or _given_up(record)


def _given_up(record: RunRecord) -> bool:
    """Whether a question that asks a model took too long."""
    return record.failure is not None and record.failure.stage == "timeout" and record.cell.llm is not None


def _silent(held: deque[RunRecord]) -> str:
    return (
        f"{len(held)} questions in a row got no reply of {_named(held[-1])} within question_timeout_seconds, the last "
        f"of them {held[-1].question_id!r}: see whether the server is up, or allow more time "
        "with --set question_timeout_seconds=N"
    )


def _named(record: RunRecord) -> str:
    asked = _asked(record)
    return "their model" if asked is None else f"system {asked!r}"


OpenJournal = Callable[[], AbstractContextManager[JournalWriter[RunRecord]]]


@dataclass(slots=True)
class _Session:
    """One process's work on a run: how far it got, for whoever has to say so."""

    budget: Budget
    tally: RunCounts
    begun: bool = False


def complete(prepared: Prepared, store: RunStore, open_journal: OpenJournal, reporter: Reporter) -> None:
    """Ask what has no record yet, and what is to be asked again.

    Raises:
        RunInterrupted: it was stopped after it had begun, by the user or by an error that only the user can mend.
        UserError: such an error before it had begun; nothing was asked.
    """
    _refuse_an_empty_index(prepared)
    prepared.open_models()
    session = _Session(open_budget(prepared.config, store), _tally(prepared, store))
    to_the_end(
        partial(_ask, prepared, store, open_journal, session, reporter),
        lambda: _way_on_note(store, session) if session.begun else None,
    )


def _refuse_an_empty_index(prepared: Prepared) -> None:
    if prepared.equipment is not None and not prepared.equipment.index_facts["passages"]:
        raise ConfigError(
            f"the index of {prepared.entries.dataset.name!r} holds no passage, and every retrieval would come back "
            "empty: give the dataset documents"
        )


def _way_on_note(store: RunStore, session: _Session) -> str:
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
            contestants = await stack.enter_async_context(open_contestants(prepared, session.budget, reporter))
            # The judge is opened before the folder is made, so that a bad address leaves none, and paid after it.
            async with judge_on_trial(config, session.budget, reporter) as can_judge:
                stack.enter_context(short_pauses())
                writer = stack.enter_context(open_journal())
                session.begun = True
                ledger = stack.enter_context(paying(session.budget, store, session.tally.attempted))
                await can_judge()
            reporter.say(sample_size_note(len(one.questions) for one in prepared.contestants))
            note = stack.enter_context(reporter.answers(session.tally))
            records = OutageBuffer(keeper(writer, ahead=ledger.sync, after=note), config.llm.breaker_failures)
            await run(
                contestants,
                done=store.done() - prepared.again,
                keep=records.take,
                concurrency=config.concurrency,
                timeout_seconds=config.question_timeout_seconds,
                health_check=config.health_check,
            )
            await records.release()
    return scope.cancel_called


def _tally(prepared: Prepared, store: RunStore) -> RunCounts:
    """Where every cell stands before anything is asked."""
    done = store.done() - prepared.again
    _, names = names_of([one.cell for one in prepared.contestants])
    kept = dict.fromkeys((one.cell.key for one in prepared.contestants), 0)
    for key in plan_keys(prepared.contestants):
        kept[key[0]] += key in done
    cells = {
        key: CellCounts(name, len(one.questions), kept[key])
        for one, name, key in zip(prepared.contestants, names, kept, strict=True)
    }
    prices = price_table(prepared.config, now())
    return RunCounts(cells, partial(prices.usd, base_url=prepared.config.llm.base_url))


def probe_latency(prepared: Prepared, store: RunStore, reporter: Reporter) -> None:
    """Ask `latency_probe` questions of every cell again, at concurrency 1 and without the reply cache.

    One more goes before them in every cell, its warm-up, which its record says; so does the first after a stop. The
    questions are a sample of the cell's own, drawn with the run's seed. What was probed is not probed again.

    Raises:
        RunInterrupted: it was stopped, by the user or by an error that only the user can mend; what is done is kept.
    """
    left = tuple(replace(one, questions=_few(one.questions, prepared.config)) for one in prepared.contestants)
    if set(plan_keys(left)) <= {key_of(record) for record in store.probe_records()}:
        return
    prepared.open_models()
    kept = f"all answers of {store.run_id!r} are kept, and what of the latency probe is done"
    probed = replace(prepared, contestants=left)
    to_the_end(partial(_probe, probed, store, reporter), lambda: way_on(store, kept, resume_command(store)))


async def _probe(prepared: Prepared, store: RunStore, reporter: Reporter) -> bool:
    """Whether it was stopped."""
    config = prepared.config
    with until_stopped() as scope:
        async with AsyncExitStack() as stack:
            budget = open_budget(config, store)
            opened = open_contestants(prepared, budget, reporter, purpose="probe", cached=False)
            probed = await stack.enter_async_context(opened)
            done = {key_of(record) for record in store.probe_records()}
            stack.enter_context(short_pauses())
            writer = stack.enter_context(store.probing())
            paid = stack.enter_context(paying(budget, store))
            advance = stack.enter_context(reporter.items("latency probe"))
            total = len(plan_keys(probed))
            counted = count(len(done & set(plan_keys(probed))) + 1)
            await run(
                probed,
                done=done,
                keep=keeper(writer, ahead=paid.sync, after=lambda _: advance(next(counted), total)),
                concurrency=1,
                timeout_seconds=config.question_timeout_seconds,
            )
    return scope.cancel_called


def _few(questions: Sequence[Question], config: RunConfig) -> tuple[Question, ...]:
    """Those that a cell is probed with, its warm-up included."""
    n = config.latency_probe + 1 if config.latency_probe else 0
    return sample(questions, n, balance="proportional", seed=config.seed)
