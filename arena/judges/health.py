"""Whether a model can judge at all, asked before the long part of a run."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from arena.errors import ModelSetupError
from arena.judges.judge import judge_of
from arena.metrics.case import Case
from arena.protocols import ChatModel, ModelRequest, Reply
from arena.types import Answer, Cell, Document, Gold, Question, RunRecord, ShownDocument

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
