"""`arena run --dry-run`: what a run, and its judging, would use and cost, before anything is spent.

What a finished run of the same cell on the same data used is taken where there is one. Else a few questions go through
the real graphs and prompts with the `fake:` model in place of the configured one, which costs nothing and needs neither
key nor server, and with passages found by shared words in place of the index's, so that nothing is embedded. Its
replies are not the model's: how often a controller goes round, and how much is written, is then a guess, and tokens are
words times `TOKENS_PER_WORD` (a `fake:` model's are words).

The judge's metrics are asked of the fake model about a few answers of each cell. RAGAS' prompts and the texts that were
shown are real; what the judge writes is not. The answers are those of a past run where there is one, else those of the
dry run's own probe, which are the fake model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import anyio

from arena.accounting import account_run
from arena.config import BudgetConfig, JudgeConfig, LLMSettings, RunConfig
from arena.errors import RunStoreError
from arena.judges.judge import Judge
from arena.judges.subject import NEEDS, settled
from arena.leaderboard.build import COVERAGE_FLOOR, read_leaderboard
from arena.llm.opening import open_model
from arena.llm.providers import LOCAL, parse_model
from arena.metrics.case import Case
from arena.prices import PriceTable
from arena.runner import Contestant, run
from arena.sampling import sample
from arena.store import RunStore
from arena.store.runs import started_runs
from arena.types import FIT, OWN_MODE, Cell, JudgeMetric, LLMCall, RunRecord, sum_known
from experiments.execution.budget import price_table
from experiments.execution.contestants import with_model
from experiments.execution.equipment import embedder_of, language_model
from experiments.execution.expectation import (
    Expectation,
    Figures,
    ModelWork,
    Unembedding,
    from_probe,
    measured_seconds,
    sum_figures,
)
from experiments.execution.extras import second_corpus
from experiments.execution.judging import judge_cell
from experiments.execution.prepare import Prepared, prepare
from experiments.execution.process import now
from experiments.terminal.progress import Reporter


@dataclass(frozen=True, slots=True)
class JudgeExpectation:
    """What a judge by one metric is expected to take, over all cells and repeats."""

    metric: JudgeMetric
    by_cell: tuple[Expectation, ...]

    @property
    def n_observed(self) -> int:
        """Answers it was tried on; an abstention is one that no judge needs to be asked about."""
        return sum(one.n_observed for one in self.by_cell)

    @property
    def n_questions(self) -> int:
        """Answers to be judged, repeats counted."""
        return sum(one.n_questions for one in self.by_cell)

    @property
    def figures(self) -> Figures:
        return sum_figures([one.figures for one in self.by_cell])


def expect_judging(
    prepared: Prepared, answers: Mapping[str, Sequence[RunRecord]], prices: PriceTable, reporter: Reporter
) -> tuple[JudgeExpectation, ...]:
    """What the judge of a config would take, a metric at a time; without a judge, nothing.

    `answers`: cell key -> some records of it.
    """
    config = prepared.config.judge
    if config is None:
        return ()
    judge = judge_cell(config.llm)
    reporter.say("probing the judge with the fake model ...")
    cases = _cases(prepared, answers)
    calls = anyio.run(_ask, prepared, config, cases, reporter)
    return tuple(
        JudgeExpectation(
            metric,
            tuple(
                from_probe(
                    judge,
                    len(one.questions) * config.repeats,
                    len(cases.get(one.cell.key, ())),
                    calls.get((one.cell.key, metric), []),
                    prices,
                    config.llm.max_tokens,
                )
                for one in prepared.contestants
                if one.asks_model
            ),
        )
        for metric in config.metrics
    )


def _cases(prepared: Prepared, answers: Mapping[str, Sequence[RunRecord]]) -> dict[str, list[Case]]:
    dataset = prepared.entries.dataset
    second = second_corpus(prepared.config, prepared.entries.variants, dataset.documents)
    every = (*dataset.documents, *(second.documents if second else ()))
    documents = {document.doc_id: document for document in every}
    questions = {question.question_id: question for question in dataset.questions}
    return {
        key: [
            Case(record, questions[record.question_id], dataset.gold[record.question_id], documents)
            for record in records
        ]
        for key, records in answers.items()
    }


async def _ask(
    prepared: Prepared, config: JudgeConfig, cases: Mapping[str, Sequence[Case]], reporter: Reporter
) -> dict[tuple[str, JudgeMetric], list[LLMCall]]:
    """(Cell key, metric) -> the calls that all its cases took."""
    embedder = (
        Unembedding(embedder_of(prepared.config, reporter, cached=False))
        if any(NEEDS[metric].embedder for metric in config.metrics)
        else None
    )
    fake = _fake(config.llm)
    calls: dict[tuple[str, JudgeMetric], list[LLMCall]] = {}
    async with open_model(fake, weights=lambda name: language_model(name, reporter)) as model:
        judge = Judge(model, dict.fromkeys(config.metrics, ""), embedder)
        for key, some in cases.items():
            for metric in config.metrics:
                for case in some:
                    if settled(case, metric) is None:
                        verdict = await judge.verdict(case, metric)
                        calls.setdefault((key, metric), []).extend(verdict.calls)
    return calls


def past_accounts(
    runs_dir: Path,
    dataset_fingerprint: str,
    cells: AbstractSet[str],
    prices: PriceTable,
    context_tokens: int | None = None,
) -> dict[str, Expectation]:
    """Cell key -> what it took, at `prices`, in the last finished run on the same data that has it.

    A run that cannot be read is passed over; so is one under another `llm.context_tokens` than `context_tokens`, whose
    prompts were cut elsewhere, and a cell of which so many questions failed that its means are withheld: they stopped
    short, and took less than they should.
    """
    found: dict[str, Expectation] = {}
    for store in started_runs(runs_dir, finished=True, dataset=dataset_fingerprint):
        with suppress(RunStoreError):
            if (store.manifest()["config"].get("llm") or {}).get("context_tokens") != context_tokens:
                continue
            board = read_leaderboard(store)
            whole = {one.cell for one in board.cells if one.n_failed <= (1.0 - COVERAGE_FLOOR) * one.n_questions}
            wanted = whole & (cells - found.keys())
            if not wanted:
                continue
            books = account_run((record for record in store.records() if record.cell.key in wanted), prices)
            for key, asked in books.n_questions.items():
                found[key] = Expectation(books.cells[key], asked, asked, store.run_id, books.of_cell(key))
    return found


PROBE_QUESTIONS = 3
_JUDGED_ANSWERS = 10
"""Of a past run's cell, to try the judge on."""

_FAKE = "fake:"


def known_window(settings: LLMSettings) -> int | None:
    """Tokens of prompt and reply that a model takes, as far as it is known without asking it; None = unknown."""
    if settings.context_tokens is None and parse_model(settings).provider == LOCAL:
        from arena.llm.local import CONTEXT_TOKENS

        return CONTEXT_TOKENS
    return settings.context_tokens


def _fake(settings: LLMSettings) -> LLMSettings:
    """The fake model in place of another one, with as much room."""
    return LLMSettings(model=_FAKE, max_tokens=settings.max_tokens, context_tokens=known_window(settings), cache=False)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run of these cells, and a judge of their answers, are expected to take.

    `window`: tokens that prompts were fitted to, reply included; None: it is not known before the model is opened, and
    nothing was left out.
    """

    cells: tuple[Expectation, ...]
    judging: tuple[JudgeExpectation, ...]
    prices: PriceTable
    budget: BudgetConfig
    work: tuple[ModelWork, ...] = ()
    window: int | None = None

    @property
    def hours(self) -> float | None:
        """Of the model calls, the judge's after the others; None where the pace of a model was never measured."""
        return sum_known(one.hours for one in self.work)

    @property
    def figures(self) -> Figures:
        """Of all of which anything can be expected."""
        return sum_figures([*(one.figures for one in self.guessed), *(one.figures for one in self.judging)])

    @property
    def guessed(self) -> tuple[Expectation, ...]:
        """The cells but the systems of the user's own: what they spend, they do not spend through the run."""
        return tuple(one for one in self.cells if one.cell.retrieval_mode != OWN_MODE)


def dry_run(config: RunConfig, reporter: Reporter, prepared: Prepared | None = None) -> DryRun:
    """Work out what `config` would take. Loads the data and counts its passages; embeds nothing, leaves no run folder.

    `prepared`: the config made ready for a dry run, to be closed by whoever did (None: it is made ready here).
    """
    if prepared is None:
        with closing(prepare(config, reporter, dry=True)) as own:
            return dry_run(config, reporter, own)
    prices = price_table(config, now())
    asking = [one for one in prepared.contestants if one.asks_model]
    past = past_accounts(
        config.runs_dir,
        prepared.entries.dataset.fingerprint,
        {one.cell.key for one in prepared.contestants if one.cell.llm is not None},
        prices,
        config.llm.context_tokens,
    )
    unseen = [one for one in asking if one.cell.key not in past]
    probed = _probe(prepared, unseen, reporter) if unseen else {}
    answers = {**probed}
    if config.judge is not None:
        ours = past.keys() & {one.cell.key for one in asking}
        answers |= {key: _past_answers(config, str(past[key].origin), key) for key in ours}
    judging = expect_judging(prepared, answers, prices, reporter)
    found: list[Expectation] = []
    for one in prepared.contestants:
        key, cell, asked = one.cell.key, one.cell, len(one.questions)
        if key in past:
            found.append(replace(past[key], cell=cell, n_questions=asked))
        else:
            found.append(_from_records(cell, asked, probed.get(key, ()), prices, config.llm.max_tokens))
    work = _work(config, found, judging)
    return DryRun(tuple(found), judging, prices, config.budget, work, known_window(config.llm))


def _work(
    config: RunConfig, cells: Sequence[Expectation], judging: Sequence[JudgeExpectation]
) -> tuple[ModelWork, ...]:
    """The calls of the contestants' model, and those of the judge's."""
    parts: list[tuple[str, LLMSettings, Sequence[Expectation]]] = []
    asking = [one for one in cells if one.cell.llm is not None and one.cell.retrieval_mode != OWN_MODE]
    judged = [one for judge in judging for one in judge.by_cell]
    if asking:
        parts.append((str(asking[0].cell.llm), config.llm, asking))
    if config.judge is not None and judged:
        parts.append((str(judged[0].cell.llm), config.judge.llm, judged))
    paces = measured_seconds(config.runs_dir, {model for model, _, _ in parts})
    work = []
    for model, settings, some in parts:
        figures = [one.figures for one in some]
        tokens = sum_known(count for one in figures for count in (one.input_tokens, one.output_tokens))
        calls = sum(one.calls or 0.0 for one in figures)
        work.append(ModelWork(model, settings, config.concurrency, calls, tokens, paces.get(model)))
    return tuple(work)


def _past_answers(config: RunConfig, run_id: str, key: str) -> list[RunRecord]:
    """Some answers of one cell of a past run."""
    records = (record for record in RunStore(config.runs_dir / run_id).records() if record.cell.key == key)
    return list(islice(records, _JUDGED_ANSWERS))


def _probe(prepared: Prepared, some: Sequence[Contestant], reporter: Reporter) -> Mapping[str, list[RunRecord]]:
    """Records of a few questions of each contestant, asked of the fake model."""
    config = prepared.config
    few = [
        replace(one, questions=sample(one.questions, PROBE_QUESTIONS, balance="proportional", seed=config.seed))
        for one in some
    ]
    records: dict[str, list[RunRecord]] = {}

    async def keep(record: RunRecord) -> None:
        records.setdefault(record.cell.key, []).append(record)

    async def ask() -> None:
        async with open_model(_fake(config.llm), weights=lambda name: language_model(name, reporter)) as model:
            await run(with_model(few, model), done=set(), keep=keep, concurrency=config.concurrency)

    reporter.say(f"probing {len(few)} cells with the fake model ...")
    anyio.run(ask)
    return records


def _from_records(
    cell: Cell, n_questions: int, records: Sequence[RunRecord], prices: PriceTable, max_tokens: int
) -> Expectation:
    calls = [call for record in records for call in record.calls]
    failures = tuple(record.failure.message for record in records if record.failure)
    expected = from_probe(cell, n_questions, len(records), calls, prices, max_tokens, failures)
    return replace(expected, n_fitted=sum(any(one.node == FIT for one in record.decisions) for record in records))
