"""Judge the answers of a run, or of a finished run, by its own judge or by another.

What has no verdict yet is asked at once, as far as the judge allows, and what is paid is kept. The judge's model is
opened with what the run may spend on it.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.config import JudgeConfig, LLMSettings, RunConfig, load_config, merge, validate_config
from arena.errors import ConfigError, DatasetError, RunInterrupted, UserError
from arena.judges.judge import Judge, check_can_judge
from arena.judges.labels import read_labels, same_family
from arena.judges.ragas import judge_shas
from arena.judges.subject import NEEDS, settled, subject_of
from arena.leaderboard.build import Leaderboard
from arena.llm.limits import Budget
from arena.llm.opening import model_sha256
from arena.llm.providers import is_fake, model_identity
from arena.metrics.case import Case
from arena.runner import each
from arena.store import LABELS, RunStore, key_of
from arena.store.runs import code_named, refuse_code, require_finished, resume_command, way_on
from arena.types import NO_RETRIEVAL_MODE, Cell, JudgeMetric, Verdict
from experiments.execution.budget import check_budget, open_budget, paying, price_table
from experiments.execution.equipment import embedder_of, language_model, paid_model
from experiments.execution.process import keeper, now, to_the_end, until_stopped
from experiments.execution.scoring import JUDGES, PastRun, cases_of, conclude_run, open_past_run
from experiments.terminal.progress import Reporter

_REPLYING = ("base_url", "temperature", "top_p", "max_tokens", "seed")
"""Settings of a model, beside its name, that can change a reply."""


def check_judge_price(config: RunConfig) -> None:
    """Refuse a bound on money that what the judge takes cannot be counted towards.

    Raises:
        ConfigError: there is such a bound and the judge has no price.
    """
    assert config.judge is not None, "a config without a judge asks none"
    check_budget(config.model_copy(update={"llm": config.judge.llm}), price_table(config, now()))


def judge_cell(judge: LLMSettings) -> Cell:
    """What a judge's calls are priced by."""
    return Cell("judge", NO_RETRIEVAL_MODE, model_identity(judge), {"base_url": judge.base_url})


def identity_of(config: JudgeConfig, content_sha256: str | None) -> dict[str, Any]:
    """All about a judge's model that can change a verdict."""
    settings = config.llm
    named = {"model": model_identity(settings), "content_sha256": content_sha256}
    return named | {name: getattr(settings, name) for name in _REPLYING}


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


async def judge_answers(session: JudgeSession, reporter: Reporter) -> bool:
    """Ask for every verdict that is due, and say whether that was stopped; with none due, no model is opened.

    Raises:
        UserError: what only the user can mend.
    """
    run, config = session.run, session.config
    embedder = embedder_of(run.config, reporter) if any(NEEDS[metric].embedder for metric in config.metrics) else None
    content_sha256 = model_sha256(config.llm, lambda name: language_model(name, reporter))
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
            opened = paid_model(config.llm, reporter, budget=budget, purpose="judge", content_sha256=content_sha256)
            model = await stack.enter_async_context(opened)
            writer = stack.enter_context(run.store.judging())
            _note_judge(session, shas)
            session.begun = True
            paid = stack.enter_context(paying(budget, run.store))
            advance = stack.enter_context(reporter.items("verdicts"))

            def note(_: Verdict) -> None:
                session.asked += 1
                advance(session.asked, session.total)

            await _ask(session, Judge(model, shas, embedder), keeper(writer, ahead=paid.sync, after=note))
    return scope.cancel_called


def _note_judge(session: JudgeSession, shas: Shas) -> None:
    """Let the manifest say whose verdicts are the scores of the metrics that this judge is asked by."""
    store = session.run.store
    manifest = store.manifest()
    settings = manifest["config"] | {"judge": session.config.model_dump(mode="json")}
    store.write_manifest(manifest | {"config": settings, JUDGES: manifest.get(JUDGES, {}) | dict(shas)})


async def _ask(session: JudgeSession, judge: Judge, keep: Callable[[Verdict], Awaitable[None]]) -> None:
    """Ask for what is due, several at a time; after an error that ends it all, what is in flight ends as it does."""

    async def ask_and_keep(task: _Task) -> None:
        await keep(await judge.verdict(*task))

    concurrency = max(session.run.config.concurrency, session.config.llm.concurrency or 1)
    await each(_due(session, judge.shas), ask_and_keep, concurrency)


def _due(session: JudgeSession, shas: Shas) -> Iterator[_Task]:
    """What is left to ask, in the order of the journal; records are read one at a time."""
    run, config = session.run, session.config
    judged = {_key(verdict) for verdict in run.store.verdicts() if not _left_open(verdict)}
    session.total = len(run.plan.keys()) * len(config.metrics) * config.repeats
    for case in cases_of(run):
        key, sha = key_of(case.record), subject_of(case).sha
        for metric in config.metrics:
            if settled(case, metric) is not None:
                session.total -= config.repeats
                continue
            for repeat in range(config.repeats):
                if (*key, metric, shas[metric], sha, repeat) in judged:
                    session.total -= 1
                else:
                    yield case, metric, repeat


def _key(verdict: Verdict) -> _Key:
    place = (verdict.cell, verdict.question_id, verdict.metric)
    return (*place, verdict.judge_sha, verdict.subject_sha, verdict.repeat)


def _left_open(verdict: Verdict) -> bool:
    """Whether it has no value because a call brought no reply: another time it may."""
    return verdict.score.value is None and any(call.error is not None for call in verdict.calls)


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
    kept = f"all verdicts so far are kept in {str(run.store.folder)!r}"
    to_the_end(
        partial(judge_answers, session, reporter),
        lambda: way_on(run.store, kept, again) if session.begun else None,
    )


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
    async with paid_model(config.judge.llm, reporter, budget=budget, purpose="health") as model:
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


def judge_folder(
    run_folder: Path,
    judge_from: Path | None,
    options: Mapping[str, Any],
    labels: Path | None,
    reporter: Reporter,
    data_at: str | None = None,
) -> tuple[RunStore, Leaderboard]:
    """Judge what has no verdict yet, and derive the run's leaderboard anew.

    Args:
        run_folder: a finished run.
        judge_from: a config file whose `judge` it is (None: the run's own).
        options: settings over its, nested as in `JudgeConfig`; with another model than the run's own, over none.
        labels: people's labels of its answers, to be kept in the run folder (None: those that are there).
        reporter: who hears of progress.
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no finished run in `run_folder`.
        ConfigError: there is no judge, or a setting of it is none.
        DatasetError: `labels` cannot be read.
        RunInterrupted: the judging was stopped; verdicts are kept.
    """
    store = RunStore.open(run_folder, data_at)
    with store.holding():
        require_finished(store, "judge it")
        run = open_past_run(store)
        config = _with_judge(run, judge_from, options)
        if config.judge and any(NEEDS[metric].embedder for metric in config.judge.metrics):
            named = code_named(store.manifest()["config"]).items()
            code = {name: value for name, value in named if name.startswith("embedding.")}
            refuse_code(store, code, f"{resume_command(store)} --judge {config.judge.llm.model}")
        if labels is not None:
            store.write_labels(_checked(run, labels))
            store.note_kept(LABELS)
        again = f"arena judge {shlex.quote(str(store.folder))}"
        try:
            judge_past_run(replace(run, config=config), reporter, again=again)
        except RunInterrupted:
            # Without this the derived files of a finished run would not be those of its journals any more.
            with suppress(UserError):  # the folder may be what went wrong
                _derive(store, run, config, reporter)
            raise
        return store, _derive(store, run, config, reporter)


def _derive(store: RunStore, run: PastRun, config: RunConfig, reporter: Reporter) -> Leaderboard:
    store.seal(run.plan.keys())
    return conclude_run(store, reporter, dataset=run.dataset, config=config)


def _with_judge(run: PastRun, judge_from: Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The run's settings, with the judge that is asked for."""
    config = run.config if judge_from is None else load_config(judge_from, {})
    known = config.judge.model_dump(mode="json") if config.judge else None
    model = options.get("llm", {}).get("model")
    if known is None and model is None:
        where = f"run {run.store.run_id!r}" if judge_from is None else repr(str(judge_from))
        raise ConfigError(f"{where} names no judge: name one with --judge PROVIDER:NAME")
    kept = known if known and (judge_from or model in (None, known["llm"]["model"])) else {}
    settings = run.config.model_dump(mode="json") | {"judge": merge(kept, options)}
    return validate_config(settings, f"run {run.store.run_id!r}")


def _checked(run: PastRun, path: Path) -> str:
    """The text of a file of labels."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"cannot read labels {str(path)!r}: {error}") from None
    read_labels(text, [planned.cell.key for planned in run.plan.cells if planned.cell.llm], str(path))
    return text
