"""One process's judging of a run: which verdicts are due, asked at once as far as the judge allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from arena.config import JudgeConfig
from arena.judges.judge import Judge
from arena.judges.ragas import judge_shas
from arena.judges.subject import NEEDS, settled, subject_of
from arena.llm import model_sha256
from arena.metrics.case import Case
from arena.runner import each
from arena.store import key_of
from arena.types import JudgeMetric, Verdict
from experiments.costs.spending import open_budget, paying
from experiments.judging.opening import check_judge_price, identity_of, open_judge
from experiments.process.keeping import keeper
from experiments.process.resuming import way_on
from experiments.process.stopping import until_stopped
from experiments.scoring.conclusion import JUDGES, PastRun, documents_of
from experiments.setup.equipment import embedder_of, fetch_weights
from experiments.terminal.progress import Advance, Reporter

Shas = Mapping[JudgeMetric, str]
"""Metric -> the `judge_sha` of the verdicts by it."""

_Key = tuple[str, str, str, str, str, int]
_Task = tuple[Case, JudgeMetric, int]


@dataclass(slots=True)
class JudgeSession:
    """How far one process's judging of a run got: `asked` verdicts of `total`, which shrinks with each that is not due.

    `begun`: the folder is open and verdicts are kept.
    """

    run: PastRun
    config: JudgeConfig
    begun: bool = False
    asked: int = 0
    total: int = 0

    def kept(self, again: str) -> str:
        """What is done and how to go on."""
        store = self.run.store
        return way_on(store, f"all verdicts so far are kept in {str(store.folder)!r}", again)


async def judge_answers(session: JudgeSession, reporter: Reporter) -> bool:
    """Ask for every verdict that is due, and say whether that was stopped; with none due, no model is opened.

    Raises:
        UserError: what only the user can mend.
    """
    run, config = session.run, session.config
    embedder = embedder_of(run.config, reporter) if any(NEEDS[metric].embedder for metric in config.metrics) else None
    content_sha256 = model_sha256(config.llm, lambda name: fetch_weights(name, reporter))
    shas = judge_shas(identity_of(config, content_sha256), config.metrics, embedder)
    if next(_due(session, shas), None) is None:
        reporter.say("nothing is left to judge")
        with run.store.holding():
            _note_judge(session, shas)
        return False
    with until_stopped() as scope:
        async with AsyncExitStack() as stack:
            check_judge_price(run.config)
            budget = open_budget(run.config, run.store)
            model = await stack.enter_async_context(
                open_judge(run.config, reporter, budget=budget, content_sha256=content_sha256)
            )
            writer = stack.enter_context(run.store.judging())
            _note_judge(session, shas)
            session.begun = True
            keep = keeper(writer, ahead=stack.enter_context(paying(budget, run.store)).sync)
            await _ask(session, Judge(model, shas, embedder), keep, stack.enter_context(reporter.items("verdicts")))
    return scope.cancel_called


def _note_judge(session: JudgeSession, shas: Shas) -> None:
    """Let the manifest say whose verdicts are the scores of the metrics that this judge is asked by."""
    store = session.run.store
    manifest = store.manifest()
    settings = manifest["config"] | {"judge": session.config.model_dump(mode="json")}
    store.write_manifest(manifest | {"config": settings, JUDGES: manifest.get(JUDGES, {}) | dict(shas)})


async def _ask(
    session: JudgeSession, judge: Judge, keep: Callable[[Verdict], Awaitable[None]], advance: Advance
) -> None:
    """Ask for what is due, several at a time; after an error that ends it all, what is in flight ends as it does."""

    async def ask_and_keep(task: _Task) -> None:
        await keep(await judge.verdict(*task))
        session.asked += 1
        advance(session.asked, session.total)

    concurrency = max(session.run.config.concurrency, session.config.llm.concurrency or 1)
    await each(_due(session, judge.shas), ask_and_keep, concurrency)


def _due(session: JudgeSession, shas: Shas) -> Iterator[_Task]:
    """What is left to ask, in the order of the journal; records are read one at a time."""
    run, config = session.run, session.config
    judged = {_key(verdict) for verdict in run.store.verdicts() if not _left_open(verdict)}
    planned = set(run.plan.keys())
    questions = {question.question_id: question for question in run.dataset.questions}
    documents = documents_of(run)
    session.total = len(planned) * len(config.metrics) * config.repeats
    for record in run.store.records():
        if key_of(record) not in planned:
            continue
        case = Case(record, questions[record.question_id], run.dataset.gold[record.question_id], documents)
        sha = subject_of(case).sha
        for metric in config.metrics:
            if settled(case, metric) is not None:
                session.total -= config.repeats
                continue
            for repeat in range(config.repeats):
                if (*key_of(record), metric, shas[metric], sha, repeat) in judged:
                    session.total -= 1
                else:
                    yield case, metric, repeat


def _key(verdict: Verdict) -> _Key:
    place = (verdict.cell, verdict.question_id, verdict.metric)
    return (*place, verdict.judge_sha, verdict.subject_sha, verdict.repeat)


def _left_open(verdict: Verdict) -> bool:
    """Whether it has no value because a call brought no reply: another time it may."""
    return verdict.score.value is None and any(call.error is not None for call in verdict.calls)
