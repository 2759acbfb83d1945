"""Judging the answers of a run: what has no verdict yet gets one, and what is paid is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio

from arena.config import RunConfig
from arena.errors import RunInterrupted, UserError
from arena.judges.judge import check_can_judge
from arena.judges.labels import same_family
from arena.llm import is_fake
from arena.llm.limits import Budget
from arena.store import RunStore
from experiments.judging.opening import check_judge_price, open_judge
from experiments.judging.session import JudgeSession, judge_answers
from experiments.process.resuming import resume_command
from experiments.scoring.conclusion import PastRun, open_past_run
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter


def judge_run(prepared: Prepared, store: RunStore, reporter: Reporter) -> None:
    """Judge every answer of a run that its config's judge has not judged yet; without a judge, nothing.

    Raises as `judge_past_run`.
    """
    if prepared.config.judge is not None:
        run = open_past_run(store, prepared.lineup.dataset, prepared.config)
        judge_past_run(run, reporter, again=resume_command(store))


def judge_past_run(run: PastRun, reporter: Reporter, *, again: str) -> None:
    """Judge what of a run's answers has no verdict of its config's judge; `again` is the command that goes on.

    A verdict that a failed call left without a value is asked for once more; the newer one counts.

    Raises:
        RunInterrupted: it was stopped, by the user or by an error that only the user can mend. Verdicts are kept.
        UserError: such an error before anything was asked.
    """
    if run.config.judge is None:
        return
    _warn_of_kin(run, run.config.judge.llm.model, reporter)
    session = JudgeSession(run, run.config.judge)
    try:
        stopped = anyio.run(judge_answers, session, reporter)
    except UserError as error:
        if session.begun:
            raise RunInterrupted(f"{error}\n{session.kept(again)}") from error
        raise
    if stopped:
        raise RunInterrupted(f"stopped; {session.kept(again)}")


@asynccontextmanager
async def judge_on_trial(
    config: RunConfig, budget: Budget, reporter: Reporter
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """The judge of a config, if there is one, opened to show on a made-up answer that it can judge; see `health_check`.

    What it hands out has it rate that answer, once what it takes can be entered, and raises `ModelSetupError`, or
    whatever else the user must mend, if it cannot. Raises as `open_model`, and `ConfigError` for a judge without a
    price under a bound on money.
    """
    if config.judge is None or not config.health_check:
        yield _nothing_to_try
        return
    check_judge_price(config)
    async with open_judge(config, reporter, budget=budget, purpose="health") as model:
        yield partial(check_can_judge, model, config.judge.health_seconds)


async def _nothing_to_try() -> None:
    return


def _warn_of_kin(run: PastRun, judge: str, reporter: Reporter) -> None:
    models = {planned.cell.llm for planned in run.plan.cells if planned.cell.llm is not None}
    kin = sorted(model for model in models if same_family(judge, model))
    if kin and not is_fake(judge):
        reporter.warn(
            f"judge {judge!r} rates answers of {', '.join(kin)}, the same model or one of its family: judges prefer "
            "their own kind; let another family judge before you trust a comparison between families"
        )
