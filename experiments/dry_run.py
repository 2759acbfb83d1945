"""`arena run --dry-run`: what a run would use and cost, before anything is spent.

What a finished run of the same cell on the same data used is taken where there is one. Else a few questions go through
the real graphs, index and prompts with the `fake:` model in place of the configured one, which costs nothing and needs
neither key nor server. Its replies are not the model's: how often a controller goes round, and how much is written, is
then a guess, and tokens are words times `TOKENS_PER_WORD` (a `fake:` model's are words).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import anyio

from arena.accounting import Account, account_of, add_up
from arena.config import BudgetConfig, LLMSettings, RunConfig
from arena.llm import is_fake, open_model
from arena.prices import PriceTable
from arena.runner import run
from arena.sampling import sample
from arena.types import CallAttempt, Cell, LLMCall, Question, RunRecord
from experiments.clock import now
from experiments.compose import Seat, contestants
from experiments.equipment import fetch_weights
from experiments.past_runs import past_accounts
from experiments.prepared import Prepared, prepare
from experiments.progress import Reporter
from experiments.spending import price_table

PROBE_QUESTIONS = 3
TOKENS_PER_WORD = 1.5
"""Tokens per run of characters between white space, prompts and passages together, a little on the high side.

Measured: 1.3 on paragraphs of MuSiQue (30,000 WordPieces), 1.55 on whole prompts over the fictional world, whose names
are in no dictionary (SmolLM2, its chat template counted).
"""

_FAKE = "fake:"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one cell is expected to take.

    `account` is that of `n_observed` questions, observed in `origin` (a run's id; None = a probe with the fake model).
    `full_usd`: what those would have cost had every reply been `llm.max_tokens` long; of a probe only. `failures`: why
    questions of a probe failed; those that do stop short, and make the figures too low.
    """

    cell: Cell
    n_questions: int
    n_observed: int
    origin: str | None
    account: Account
    full_usd: float | None = None
    failures: tuple[str, ...] = ()

    @property
    def calls(self) -> float:
        """Calls of the whole cell; `input_tokens`, `output_tokens` and `usd` likewise, None = unknown."""
        return self._scaled(self.account.whole.calls) or 0.0

    @property
    def input_tokens(self) -> float | None:
        return self._scaled(self.account.whole.input_tokens.value)

    @property
    def output_tokens(self) -> float | None:
        return self._scaled(self.account.whole.output_tokens.value)

    @property
    def usd(self) -> float | None:
        return self._scaled(self.account.whole.usd.value)

    @property
    def usd_with_full_replies(self) -> float | None:
        """The cost with every reply at its limit; that of a past run is what it was."""
        return self.usd if self.origin else self._scaled(self.full_usd)

    def _scaled(self, observed: float | None) -> float | None:
        if observed is None:
            return None
        return observed / self.n_observed * self.n_questions if self.n_observed else 0.0


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run of these cells is expected to take; sums are None when any cell's is unknown."""

    cells: tuple[Expectation, ...]
    prices: PriceTable
    budget: BudgetConfig

    @property
    def calls(self) -> float:
        return sum(cell.calls for cell in self.cells)

    @property
    def input_tokens(self) -> float | None:
        return _sum(cell.input_tokens for cell in self.cells)

    @property
    def output_tokens(self) -> float | None:
        return _sum(cell.output_tokens for cell in self.cells)

    @property
    def usd(self) -> float | None:
        return _sum(cell.usd for cell in self.cells)

    @property
    def usd_with_full_replies(self) -> float | None:
        return _sum(cell.usd_with_full_replies for cell in self.cells)


def dry_run(config: RunConfig, reporter: Reporter) -> DryRun:
    """Work out what `config` would take. Loads the data and builds the index; leaves no run folder."""
    prices = price_table(config, now())
    with closing(prepare(config, reporter, without_model=True)) as prepared:
        asking = [seat for seat in prepared.seats if seat.spec.needs_model]
        past = past_accounts(
            config.runs_dir, prepared.lineup.dataset.fingerprint, {seat.cell.key for seat in asking}, prices
        )
        unseen = [seat for seat in asking if seat.cell.key not in past]
        probed = _probe(prepared, unseen, reporter) if unseen else {}
    found: list[Expectation] = []
    for seat in prepared.seats:
        key, cell, asked = seat.cell.key, seat.cell, len(seat.questions)
        if key in past:
            found.append(Expectation(cell, asked, past[key].n_questions, past[key].run_id, past[key].account))
        else:
            found.append(_from_probe(cell, asked, probed.get(key, ()), prices, config.llm.max_tokens))
    return DryRun(tuple(found), prices, config.budget)


def _probe(prepared: Prepared, seats: Sequence[Seat], reporter: Reporter) -> Mapping[str, list[RunRecord]]:
    """Records of a few questions of each seat, asked of the fake model."""
    config = prepared.config
    few = [replace(seat, questions=_few(seat, config)) for seat in seats]
    records: dict[str, list[RunRecord]] = {}

    async def ask() -> None:
        fake = LLMSettings(model=_FAKE, max_tokens=config.llm.max_tokens, cache=False)
        async with open_model(fake, weights=lambda name: fetch_weights(name, reporter)) as model:
            retriever = prepared.equipment.retriever if prepared.equipment else None
            entrants = contestants(few, prepared.lineup.dataset, retriever, model)
            await run(
                entrants,
                done=set(),
                keep=lambda record: records.setdefault(record.cell.key, []).append(record),
                concurrency=config.concurrency,
            )

    reporter.say(f"probing {len(few)} cells with the fake model ...")
    anyio.run(ask)
    return records


def _few(seat: Seat, config: RunConfig) -> tuple[Question, ...]:
    return sample(seat.questions, PROBE_QUESTIONS, balance="proportional", seed=config.seed)


def _from_probe(
    cell: Cell, n_questions: int, records: Sequence[RunRecord], prices: PriceTable, max_tokens: int
) -> Expectation:
    calls = [call for record in records for call in record.calls]
    account = add_up(account_of([_as_asked(call, cell)], cell, prices) for call in calls)
    full = account_of([_as_asked(call, cell, written=max_tokens) for call in calls], cell, prices)
    failures = tuple(record.failure.message for record in records if record.failure)
    return Expectation(cell, n_questions, len(records), None, account, full.whole.usd.value, failures)


def _as_asked(call: LLMCall, cell: Cell, written: int | None = None) -> LLMCall:
    """A call of the fake as the cell's model would have it, without seconds; `written`: with a reply so long."""
    model = cell.llm or call.model
    # The tokens of the fake are words.
    factor = 1.0 if is_fake(model) else TOKENS_PER_WORD
    attempts = tuple(
        CallAttempt(
            _tokens(one.input_tokens, factor), _tokens(one.output_tokens, factor) if written is None else written
        )
        for one in call.attempts
    )
    return replace(call, model=model, attempts=attempts, replayed=True)


def _tokens(words: int | None, factor: float) -> int | None:
    return None if words is None else round(words * factor)


def _sum(values: Iterable[float | None]) -> float | None:
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if len(known) == len(listed) else None
