"""A language model as a judge: one record, one metric, one verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import anyio

from arena.errors import ModelCallError
from arena.judges.gate import MOST_ASKINGS, GateLLM
from arena.judges.identity import judge_shas
from arena.judges.loading import ragas_metric
from arena.judges.protocol import JudgeProtocol
from arena.judges.subject import NEEDS, subject_of
from arena.judges.table import PROTOCOLS
from arena.judges.vectors import NotedEmbedder
from arena.llm.ledger import Ledger
from arena.metrics.case import Case
from arena.protocols import ChatModel, Embedder
from arena.types import JudgeMetric, Verdict

ROLE = "judge"


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge by some metrics.

    `shas`: metric -> the `judge_sha` of its verdicts. `embedder`: for the metrics that compare texts by their vectors;
    `turn` lets one thread at a time embed. `clock`: seconds, monotonic.
    """

    model: ChatModel
    shas: Mapping[JudgeMetric, str]
    embedder: Embedder | None = None
    turn: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    clock: Callable[[], float] = perf_counter

    async def verdict(self, case: Case, metric: JudgeMetric, repeat: int = 0) -> Verdict:
        """The judge's verdict on `case`, for which `arena.judges.subject.settled` has none.

        A failed call is a verdict without a value. Raises only a `UserError`, and cancellation.
        """
        subject, protocol = subject_of(case), PROTOCOLS[metric]
        started = self.clock()
        ledger = Ledger(self.model, lambda: self.clock() - started)
        llm = GateLLM(ledger, f"{ROLE}_{metric}", first_sample=repeat * MOST_ASKINGS, stand_in=protocol.stand_in)
        noted = NotedEmbedder(self.embedder, self.turn) if self.embedder and NEEDS[metric].embedder else None
        theirs = await _ragas_value(protocol, llm, noted, protocol.arguments(subject))
        reading = protocol.read(llm.asked, subject, noted.similarity if noted else _unknown)
        return Verdict(
            cell=case.record.cell.key,
            question_id=case.record.question_id,
            metric=metric,
            judge=self.model.name,
            judge_sha=self.shas[metric],
            subject_sha=subject.sha,
            repeat=repeat,
            score=reading.score(metric),
            parts=reading.parts,
            calls=ledger.calls,
            details={**reading.details} if theirs is None else {**reading.details, "ragas": theirs},
        )


def judge_of(
    model: ChatModel, identity: Mapping[str, Any], metrics: Sequence[JudgeMetric], embedder: Embedder | None = None
) -> Judge:
    """A judge by `metrics`. Arguments and errors are those of `arena.judges.identity.judge_shas`."""
    return Judge(model, judge_shas(identity, metrics, embedder), embedder)


async def _ragas_value(
    protocol: JudgeProtocol, llm: GateLLM, embedder: NotedEmbedder | None, arguments: Mapping[str, Any]
) -> float | None:
    """Let ragas ask, and return its own value; None = it has none."""
    value: float | None = None
    with suppress(ModelCallError):
        scored = await ragas_metric(protocol, llm, embedder).ascore(**arguments)
        value = float(scored.value)
    llm.check()
    return value if value is not None and math.isfinite(value) else None


def _unknown(one: str, other: str) -> float | None:
    return None
