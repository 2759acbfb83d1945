"""`arena run --dry-run`: what a run would use and cost, before anything is spent.

What a finished run of the same cell on the same data used is taken where there is one. Else a few questions go through
the real graphs and prompts with the `fake:` model in place of the configured one, which costs nothing and needs neither
key nor server, and with passages found by shared words in place of the index's, so that nothing is embedded. Its
replies are not the model's: how often a controller goes round, and how much is written, is then a guess, and tokens are
words times `TOKENS_PER_WORD` (a `fake:` model's are words).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

import anyio

from arena.config import BudgetConfig, LLMSettings, RunConfig
from arena.llm import open_model
from arena.prices import PriceTable
from arena.runner import run
from arena.sampling import sample
from arena.store import RunStore
from arena.types import Cell, Question, RunRecord
from experiments.costs.spending import price_table
from experiments.dry_runs.expectation import Expectation, from_probe, total
from experiments.dry_runs.hours import ModelWork, measured_paces, model_work
from experiments.dry_runs.judge import JudgeExpectation, expect_judging
from experiments.process.clock import now
from experiments.runs.past_runs import past_accounts
from experiments.setup.compose import Seat, contestants
from experiments.setup.equipment import fetch_weights
from experiments.setup.prepared import Prepared, prepare
from experiments.terminal.progress import Reporter

PROBE_QUESTIONS = 3
_JUDGED_ANSWERS = 10
"""Of a past run's cell, to try the judge on."""

_FAKE = "fake:"


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run of these cells, and a judge of their answers, are expected to take.

    Sums are over both, and None when any part of them is unknown.
    """

    cells: tuple[Expectation, ...]
    judging: tuple[JudgeExpectation, ...]
    prices: PriceTable
    budget: BudgetConfig
    work: tuple[ModelWork, ...] = ()

    @property
    def hours(self) -> float | None:
        """Of the model calls, the judge's after the others; None where the pace of a model was never measured."""
        return total(one.hours for one in self.work)

    @property
    def calls(self) -> float:
        return sum(one.calls for one in self._parts)

    @property
    def input_tokens(self) -> float | None:
        return total(one.input_tokens for one in self._parts)

    @property
    def output_tokens(self) -> float | None:
        return total(one.output_tokens for one in self._parts)

    @property
    def usd(self) -> float | None:
        return total(one.usd for one in self._parts)

    @property
    def usd_with_full_replies(self) -> float | None:
        return total(one.usd_with_full_replies for one in self._parts)

    @property
    def _parts(self) -> tuple[Expectation | JudgeExpectation, ...]:
        return (*self.cells, *self.judging)


def dry_run(config: RunConfig, reporter: Reporter, prepared: Prepared | None = None) -> DryRun:
    """Work out what `config` would take. Loads the data and counts its passages; embeds nothing, leaves no run folder.

    `prepared`: the config made ready for a dry run, to be closed by whoever did (None: it is made ready here).
    """
    if prepared is None:
        with closing(prepare(config, reporter, dry=True)) as own:
            return dry_run(config, reporter, own)
    prices = price_table(config, now())
    asking = [seat for seat in prepared.seats if seat.spec.needs_model]
    past = past_accounts(
        config.runs_dir, prepared.lineup.dataset.fingerprint, {seat.cell.key for seat in asking}, prices
    )
    unseen = [seat for seat in asking if seat.cell.key not in past]
    probed = _probe(prepared, unseen, reporter) if unseen else {}
    answers = {**probed}
    if config.judge is not None:
        answers |= {key: _past_answers(config, one.run_id, key) for key, one in past.items()}
    judging = expect_judging(prepared, answers, prices, reporter)
    found: list[Expectation] = []
    for seat in prepared.seats:
        key, cell, asked = seat.cell.key, seat.cell, len(seat.questions)
        if key in past:
            found.append(Expectation(cell, asked, past[key].n_questions, past[key].run_id, past[key].account))
        else:
            found.append(_from_records(cell, asked, probed.get(key, ()), prices, config.llm.max_tokens))
    return DryRun(tuple(found), judging, prices, config.budget, _work(config, found, judging))


def _work(
    config: RunConfig, cells: Sequence[Expectation], judging: Sequence[JudgeExpectation]
) -> tuple[ModelWork, ...]:
    """The calls of the contestants' model, and those of the judge's."""
    parts: list[tuple[str, LLMSettings, Sequence[Expectation]]] = []
    asking = [one for one in cells if one.cell.llm is not None]
    judged = [one for judge in judging for one in judge.by_cell]
    if asking:
        parts.append((str(asking[0].cell.llm), config.llm, asking))
    if config.judge is not None and judged:
        parts.append((str(judged[0].cell.llm), config.judge.llm, judged))
    paces = measured_paces(config.runs_dir, {model for model, _, _ in parts})
    return tuple(
        model_work(model, settings, config, sum(one.calls for one in some), _tokens(some), paces.get(model))
        for model, settings, some in parts
    )


def _tokens(cells: Sequence[Expectation]) -> float | None:
    return total(tokens for one in cells for tokens in (one.input_tokens, one.output_tokens))


def _past_answers(config: RunConfig, run_id: str, key: str) -> list[RunRecord]:
    """Some answers of one cell of a past run."""
    records = (record for record in RunStore(config.runs_dir / run_id).records() if record.cell.key == key)
    return list(islice(records, _JUDGED_ANSWERS))


def _probe(prepared: Prepared, seats: Sequence[Seat], reporter: Reporter) -> Mapping[str, list[RunRecord]]:
    """Records of a few questions of each seat, asked of the fake model."""
    config = prepared.config
    few = [replace(seat, questions=_few(seat, config)) for seat in seats]
    records: dict[str, list[RunRecord]] = {}

    async def keep(record: RunRecord) -> None:
        records.setdefault(record.cell.key, []).append(record)

    async def ask() -> None:
        fake = LLMSettings(model=_FAKE, max_tokens=config.llm.max_tokens, cache=False)
        async with open_model(fake, weights=lambda name: fetch_weights(name, reporter)) as model:
            retriever = prepared.equipment.retriever if prepared.equipment else None
            entrants = contestants(few, prepared.lineup.dataset, retriever, model)
            await run(entrants, done=set(), keep=keep, concurrency=config.concurrency)

    reporter.say(f"probing {len(few)} cells with the fake model ...")
    anyio.run(ask)
    return records


def _few(seat: Seat, config: RunConfig) -> tuple[Question, ...]:
    return sample(seat.questions, PROBE_QUESTIONS, balance="proportional", seed=config.seed)


def _from_records(
    cell: Cell, n_questions: int, records: Sequence[RunRecord], prices: PriceTable, max_tokens: int
) -> Expectation:
    calls = [call for record in records for call in record.calls]
    failures = tuple(record.failure.message for record in records if record.failure)
    return from_probe(cell, n_questions, len(records), calls, prices, max_tokens, failures)
