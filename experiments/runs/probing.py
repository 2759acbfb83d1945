"""The latency probe: some questions once more, one at a time, for what a lone user would wait."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import anyio

from arena.config import RunConfig
from arena.errors import RunInterrupted, UserError
from arena.runner import plan_keys, run
from arena.sampling import sample
from arena.store import RunStore, key_of
from arena.types import Question, RunRecord
from experiments.costs.spending import open_budget, paying
from experiments.process.collecting import short_pauses
from experiments.process.keeping import keeper
from experiments.process.resuming import resume_command, way_on
from experiments.process.stopping import until_stopped
from experiments.setup.entrants import open_entrants
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter


def probe_latency(prepared: Prepared, store: RunStore, reporter: Reporter) -> None:
    """Ask `latency_probe` questions of every cell again, at concurrency 1 and without the reply cache.

    One more goes before them in every cell, its warm-up, which its record says; so does the first after a stop. The
    questions are a sample of the cell's own, drawn with the run's seed. What was probed is not probed again.

    Raises:
        RunInterrupted: it was stopped, by the user or by an error that only the user can mend; what is done is kept.
    """
    left = [replace(seat, questions=_few(seat.questions, prepared.config)) for seat in prepared.seats]
    if set(plan_keys(left)) <= {key_of(record) for record in store.probe_records()}:
        return
    try:
        stopped = anyio.run(_probe, prepared, store, reporter)
    except UserError as error:
        raise RunInterrupted(f"{error}\n{_kept(store)}") from error
    if stopped:
        raise RunInterrupted(f"stopped; {_kept(store)}")


def _kept(store: RunStore) -> str:
    kept = f"all answers of {store.run_id!r} are kept, and what of the latency probe is done"
    return way_on(store, kept, resume_command(store))


async def _probe(prepared: Prepared, store: RunStore, reporter: Reporter) -> bool:
    """Whether it was stopped."""
    config = prepared.config
    with until_stopped() as scope:
        async with AsyncExitStack() as stack:
            budget = open_budget(config, store)
            entrants = await stack.enter_async_context(
                open_entrants(prepared, budget, reporter, purpose="probe", cached=False)
            )
            probed = [replace(one, questions=_few(one.questions, config)) for one in entrants]
            done = {key_of(record) for record in store.probe_records()}
            stack.enter_context(short_pauses())
            writer = stack.enter_context(store.probing())
            append = keeper(writer, ahead=stack.enter_context(paying(budget, store)).sync)
            advance = stack.enter_context(reporter.items("latency probe"))
            total = len(plan_keys(probed))
            n_done = len(done & set(plan_keys(probed)))

            async def keep(record: RunRecord) -> None:
                nonlocal n_done
                await append(record)
                n_done += 1
                advance(n_done, total)

            await run(
                probed,
                done=done,
                keep=keep,
                concurrency=1,
                timeout_seconds=config.question_timeout_seconds,
            )
    return scope.cancel_called


def _few(questions: Sequence[Question], config: RunConfig) -> tuple[Question, ...]:
    """Those that a cell is probed with, its warm-up included."""
    n = config.latency_probe + 1 if config.latency_probe else 0
    return sample(questions, n, balance="proportional", seed=config.seed)
