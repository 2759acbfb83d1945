"""Calls that go side by side: one that fails leaves the others to end, so that what is paid for is in the ledger."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest

from arena.errors import ModelCallError
from arena.llm.ledger import Ledger
from arena.llm.limits import Allowance
from arena.protocols import ModelRequest, Reply, Tools
from arena.types import CallAttempt, LLMCall, Task
from strategies.corrective import CORRECTIVE, CorrectiveParams
from tests.unit.strategies.corrective.shelf import QUESTION, SETTINGS, Shelf, passage

TEN = [passage(f"d{n}", f"Passage {n}. One. Two. Three.") for n in range(3)]


@dataclass
class SlowModel:
    """Takes a turn of the event loop for all but the role that fails at once."""

    fails: str = ""
    name: str = "slow:"

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        error = "HTTP 500" if request.role == self.fails else None
        if error is None:
            await anyio.lowlevel.checkpoint()
        said = {"evaluate": "unsure", "refine": "unsure"}.get(request.role, "Tammerhold, governor")
        call = LLMCall(request.role, self.name, "0", (CallAttempt(7, 2),), finish_reason="stop", error=error)
        return Reply(None if error else said, call)


def roles_in_the_ledger(model: SlowModel, allowance: Allowance) -> list[str]:
    """One question through the graph; the roles of the calls that its ledger has."""
    ledger = Ledger(model, lambda: 0.0, allowance)
    params = CorrectiveParams(evaluator="labels", external="second_index")
    tools = Tools(Shelf(TEN), SETTINGS, ledger, Shelf())
    with pytest.raises(ModelCallError, match="HTTP 500") if model.fails else nullcontext():
        anyio.run(CORRECTIVE.build(params).attempt, Task(QUESTION), tools)
    return [call.role for call in ledger.calls]


def test_judgements_under_way_are_entered_when_the_allowance_ends_among_them() -> None:
    assert roles_in_the_ledger(SlowModel(), Allowance(calls=2)) == ["evaluate", "evaluate", "generate"]


@pytest.mark.parametrize("fails", ["refine", "rewrite"])
def test_a_failed_branch_leaves_the_other_to_end(fails: str) -> None:
    roles = roles_in_the_ledger(SlowModel(fails), Allowance())
    assert sorted(set(roles)) == ["evaluate", "refine", "rewrite"]
    assert (roles.count("refine"), roles.count("rewrite")) == (6, 1)
