"""A `ChatModel` that always writes the same, for tests of what the runner's own ledger makes of a contestant."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from arena.errors import ModelSetupError
from arena.llm.limits import Allowance
from arena.protocols import ModelRequest, Reply
from arena.runner import Contestant, run_one
from arena.types import CallAttempt, Cell, LLMCall, RunRecord
from tests.contract.contestants import VARIANTS
from tests.contract.courses import REPLY, strategy
from tests.contract.shelf import QUESTION, SETTINGS, LengthEvaluator, ShelfRetriever, SureRouter, elsewhere


@dataclass
class ParrotModel:
    """`fails`: the error of every call; `refuses`: what only the user can mend."""

    reply: str = REPLY
    fails: str | None = None
    refuses: str = ""
    name: str = "parrot:"

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        if self.refuses:
            raise ModelSetupError(self.refuses)
        call = LLMCall(request.role, self.name, "0", (CallAttempt(7, 2),), finish_reason="stop", error=self.fails)
        return Reply(None if self.fails else self.reply, call)


def contestant(entry: str, model: object = None, allowance: Allowance | None = None) -> Contestant:
    """The contestant as the runner is given it."""
    spec = VARIANTS[entry].spec
    return Contestant(
        cell=Cell(spec.name, "hybrid_rerank", "parrot:", {"entry": entry}),
        strategy=strategy(entry),
        evidence=ShelfRetriever(),
        settings=SETTINGS,
        model=(model or ParrotModel()) if spec.needs_model else None,  # type: ignore[arg-type]
        questions=(QUESTION,),
        external=elsewhere(),
        evaluator=LengthEvaluator(),
        router=SureRouter(),
        allowance=allowance or Allowance(),
    )


def record_of(entry: str, model: ParrotModel | None = None, allowance: Allowance | None = None) -> RunRecord:
    """What the runner makes of one question."""
    return anyio.run(run_one, contestant(entry, model, allowance), QUESTION)
