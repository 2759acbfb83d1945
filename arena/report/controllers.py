"""The part of leaderboard.json that says what a cell's controllers did. These models are its schema."""

from __future__ import annotations

from pydantic import Field

from arena.metrics.controllers import Branch, Controller, DecisionTally
from arena.report.schema import Row
from arena.types import Tier


class BranchSummary(Row):
    """One choice of a node."""

    choice: str
    n_questions: int = Field(ge=1, description="Questions on which it was taken at least once.")
    n_times: int = Field(ge=1)
    n_effective: int = Field(ge=0, description="Times it changed anything; 0 = this branch never does.")
    evidence: int = Field(ge=0, description="Times it changed the evidence.")
    query: int = Field(ge=0, description="Times it changed what the index was asked.")
    answer: int = Field(ge=0, description="Times it changed the answer.")


class ControllerSummary(Row):
    """A node that decides, over the completed questions of one cell."""

    node: str
    n_questions: int = Field(ge=1, description="Questions on which it decided at least once.")
    branches: list[BranchSummary] = Field(min_length=1)
    only_judges: bool = Field(description="It gives verdicts on single passages; another node's branches act on them.")
    never_changed_anything: bool = Field(description="No branch ever changed anything: the controller is a no-op.")
    always: str | None = Field(description="The choice it took every time on every one of several questions, if one.")


def summarise_controllers(tally: DecisionTally) -> list[ControllerSummary]:
    """One row per node, in the order in which they first decided; empty for a cell without decisions."""
    return [_controller(tally, controller) for controller in tally.controllers.values()]


def ran_at(tally: DecisionTally, highest: Tier | None) -> Tier | None:
    """The tier a cell ran at, of a strategy that can run at `highest` (None: a baseline, which has none).

    Without a judgement nothing more than the control flow is the paper's, which is T0.
    """
    if highest is None:
        return None
    return tally.tier or "T0"


def _controller(tally: DecisionTally, controller: Controller) -> ControllerSummary:
    return ControllerSummary(
        node=controller.node,
        n_questions=controller.questions,
        branches=[_branch(branch) for branch in controller.branches.values()],
        only_judges=controller.only_judges,
        never_changed_anything=controller.never_changed_anything,
        always=tally.always(controller),
    )


def _branch(branch: Branch) -> BranchSummary:
    return BranchSummary(
        choice=branch.choice,
        n_questions=branch.questions,
        n_times=branch.times,
        n_effective=branch.effective,
        evidence=branch.altered["evidence"],
        query=branch.altered["query"],
        answer=branch.altered["answer"],
    )
