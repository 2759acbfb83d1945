"""What judging a run would take: the judge's metrics asked of the fake model about a few answers of each cell.

RAGAS' prompts and the texts that were shown are real; what the judge writes is not. The answers are those of a past run
where there is one, else those of the dry run's own probe, which are the fake model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio

from arena.config import JudgeConfig, LLMSettings
from arena.judges.judge import Judge
from arena.judges.subject import NEEDS, settled
from arena.llm import open_model
from arena.metrics.case import Case
from arena.prices import PriceTable
from arena.types import JudgeMetric, LLMCall, RunRecord
from experiments.dry_runs.expectation import Expectation, from_probe, total
from experiments.judging.opening import judge_cell
from experiments.setup.equipment import embedder_of, fetch_weights
from experiments.setup.external import second_corpus
from experiments.setup.planned import Unembedding
from experiments.setup.prepared import Prepared
from experiments.terminal.progress import Reporter

_FAKE = "fake:"


@dataclass(frozen=True, slots=True)
class JudgeExpectation:
    """What a judge by one metric is expected to take, over all cells and repeats. Sums are None when any is unknown."""

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
    def calls(self) -> float:
        return sum(one.calls for one in self.by_cell)

    @property
    def input_tokens(self) -> float | None:
        return total(one.input_tokens for one in self.by_cell)

    @property
    def output_tokens(self) -> float | None:
        return total(one.output_tokens for one in self.by_cell)

    @property
    def usd(self) -> float | None:
        return total(one.usd for one in self.by_cell)

    @property
    def usd_with_full_replies(self) -> float | None:
        return total(one.usd_with_full_replies for one in self.by_cell)


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
                    len(seat.questions) * config.repeats,
                    len(cases.get(seat.cell.key, ())),
                    calls.get((seat.cell.key, metric), []),
                    prices,
                    config.llm.max_tokens,
                )
                for seat in prepared.seats
                if seat.spec.needs_model
            ),
        )
        for metric in config.metrics
    )


def _cases(prepared: Prepared, answers: Mapping[str, Sequence[RunRecord]]) -> dict[str, list[Case]]:
    dataset = prepared.lineup.dataset
    second = second_corpus(prepared.config, prepared.lineup.variants, dataset.documents)
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
    fake = LLMSettings(model=_FAKE, max_tokens=config.llm.max_tokens, cache=False)
    calls: dict[tuple[str, JudgeMetric], list[LLMCall]] = {}
    async with open_model(fake, weights=lambda name: fetch_weights(name, reporter)) as model:
        judge = Judge(model, dict.fromkeys(config.metrics, ""), embedder)
        for key, some in cases.items():
            for metric in config.metrics:
                for case in some:
                    if settled(case, metric) is None:
                        verdict = await judge.verdict(case, metric)
                        calls.setdefault((key, metric), []).extend(verdict.calls)
    return calls
