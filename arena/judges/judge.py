"""A language model as a judge: one record and one metric give one verdict.

Before the long part of a run, the judge is asked once whether it can judge at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import anyio

from arena.errors import ModelCallError, ModelSetupError
from arena.judges.ragas import MOST_ASKINGS, GateLLM, NotedEmbedder, judge_shas, ragas_metric
from arena.judges.ragas_metrics import PROTOCOLS, JudgeProtocol
from arena.judges.subject import NEEDS, subject_of
from arena.llm.ledger import Ledger
from arena.metrics.case import Case
from arena.protocols import ChatModel, Embedder, ModelRequest, Reply
from arena.types import (
    Answer,
    Cell,
    Document,
    Gold,
    JudgeMetric,
    Question,
    RunRecord,
    ShownDocument,
    Verdict,
)

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
    """A judge by `metrics`. Arguments and errors are those of `arena.judges.ragas.judge_shas`."""
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


_QUESTION = Question("check", "In which year was the Orlen bridge opened?", "single_hop", 1)
_DOCUMENT = Document("check", "Orlen bridge", "The Orlen bridge was opened in 1871.")
_GOLD = Gold("check", ("1871",), ("check",))


async def check_can_judge(model: ChatModel, patience_seconds: float) -> None:
    """Have a made-up answer rated, and see that the rating comes in the form asked for; whether it is fair is not seen.

    `patience_seconds`: what each reply may take, all attempts at it together, so that a server that is up and silent is
    heard of before its time-outs have passed one by one.

    Raises:
        ModelSetupError: it does not; or whatever else the user must mend, of the gate.
    """
    patient = _Patient(model, patience_seconds)
    verdict = await judge_of(patient, {}, ("answer_accuracy",)).verdict(_case(model.name), "answer_accuracy")
    if verdict.score.value is None:
        problem = next(part.reason for part in verdict.parts if part.value is None)
        raise ModelSetupError(
            f"judge {model.name!r} cannot rate a made-up answer: {problem}; choose a model that keeps to a JSON form, "
            "raise judge.llm.max_tokens if it reasons first, or set health_check to false"
        )


@dataclass(frozen=True, slots=True)
class _Patient:
    """A model whose silence ends the check."""

    inner: ChatModel
    seconds: float

    @property
    def name(self) -> str:
        return self.inner.name

    async def fits(self, request: ModelRequest) -> bool:
        return await self.inner.fits(request)

    async def complete(self, request: ModelRequest) -> Reply:
        with anyio.move_on_after(self.seconds):
            return await self.inner.complete(request)
        raise ModelSetupError(
            f"judge {self.name!r} said nothing within {self.seconds:g} s when a made-up answer was to be rated: see "
            "whether its server is up and answers at its base_url; for one that is slow, or still loads its model, "
            "raise judge.health_seconds"
        )


def _case(llm: str) -> Case:
    shown = ShownDocument("check", ((0, len(_DOCUMENT.text)),))
    answer = Answer("1871", abstained=False, retrieved_ids=("check",), used_ids=("check",), shown=(shown,))
    record = RunRecord(Cell("check", "gold", llm), "check", "answered", answer, None, (), (), (), 0.0)
    return Case(record, _QUESTION, _GOLD, {"check": _DOCUMENT})
