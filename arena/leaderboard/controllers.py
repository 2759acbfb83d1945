"""What a cell's controllers did, and what that was worth, held against gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean

from pydantic import Field

from arena.leaderboard.schema import Row
from arena.metrics.controllers import (
    ROUTES,
    BranchCounts,
    ControllerCounts,
    DecisionCounts,
    GraderCounts,
    RetrievalCounts,
    Route,
    fixed_route,
    oracle_routes,
)
from arena.types import Cell, Tier


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


def summarise_controllers(counts: DecisionCounts) -> list[ControllerSummary]:
    """One row per node, in the order in which they first decided; empty for a cell without decisions."""
    return [
        ControllerSummary(
            node=controller.node,
            n_questions=controller.questions,
            branches=list(map(_branch, controller.branches.values())),
            only_judges=controller.only_judges,
            never_changed_anything=controller.never_changed_anything,
            always=counts.always(controller),
        )
        for controller in counts.controllers.values()
    ]


def _branch(branch: BranchCounts) -> BranchSummary:
    return BranchSummary(
        choice=branch.choice,
        n_questions=branch.questions,
        n_times=branch.times,
        n_effective=branch.effective,
        evidence=branch.altered["evidence"],
        query=branch.altered["query"],
        answer=branch.altered["answer"],
    )


def ran_at(counts: DecisionCounts, highest: Tier | None) -> Tier | None:
    """The tier a cell ran at, of a strategy that can run at `highest` (None: a baseline, which has none).

    Without a judgement nothing more than the control flow is the paper's, which is T0.
    """
    return None if highest is None else counts.tier or "T0"


class GraderScores(Row):
    """Verdicts of one node on retrieved passages, against the gold documents."""

    node: str
    n_judged: int = Field(ge=1)
    n_gold: int = Field(ge=0)
    n_approved: int = Field(ge=0)
    n_approved_gold: int = Field(ge=0)
    n_undecided: int = Field(ge=0, description="Neither way, or not readable; they approve nothing.")
    precision: float | None = Field(description="Of the approved, the share that is gold. None: nothing was approved.")
    recall: float | None = Field(description="Of the judged gold, the share approved. None: no gold was judged.")
    base_rate: float = Field(description="Of the judged, the share that is gold: the precision of approving all.")


class RouteCount(Row):
    """Questions that needed one way and were sent another."""

    needed: Route
    taken: Route
    n: int = Field(ge=1)


class RouteConfusion(Row):
    """Ways taken against ways needed: A no retrieval, B one, C several. `cheaper` ones were sent too cheap a way."""

    n: int = Field(ge=1)
    agreement: float = Field(ge=0, le=1)
    n_cheaper: int = Field(ge=0)
    n_dearer: int = Field(ge=0)
    counts: list[RouteCount]


class RewriteScores(Row):
    """Questions asked under several queries: mean recall of the first, of all together, of the last by itself.

    `gain` = `recall_after` - `recall_before`, never negative; a strategy that replaces its passages gains
    `recall_alone` - `recall_before`.
    """

    n_questions: int = Field(ge=1)
    recall_before: float
    recall_after: float
    recall_alone: float
    gain: float


class ControllerScores(Row):
    """What a cell's decisions were worth. `wasted` retrievals brought no new gold document.

    `against_oracle`: the cheapest way that answers right in the run's rows of one way each; None where not all three
    are there. A row that sends every question the same way has no confusion.
    """

    graders: list[GraderScores]
    against_hops: RouteConfusion | None
    against_oracle: RouteConfusion | None
    rewriting: RewriteScores | None
    n_retrievals: int = Field(ge=0)
    n_wasted: int = Field(ge=0)
    n_needless: int = Field(ge=0, description="Wasted ones that came when all gold was there already.")


def summarise_controller_scores(
    cell: Cell, counts: ControllerCounts, rows: Iterable[tuple[Cell, ControllerCounts]] = ()
) -> ControllerScores | None:
    """What the counts of one cell came to; None where it decides nothing that gold could judge.

    `rows`: all cells of the run, among which the rows of one way each are found.
    """
    routes, retrievals = counts.routes, counts.retrievals
    taken = routes.taken if fixed_route(cell) is None else {}
    if not (counts.graders or taken or retrievals.repeated):
        return None
    best = oracle_routes(cell, [(row, each.routes) for row, each in rows]) if taken else {}
    return ControllerScores(
        graders=[_grader(node, grader) for node, grader in counts.graders.items()],
        against_hops=_confusion(routes.needed, taken),
        against_oracle=_confusion(best, taken),
        rewriting=_rewriting(retrievals),
        n_retrievals=retrievals.retrievals,
        n_wasted=retrievals.wasted,
        n_needless=retrievals.needless,
    )


def _grader(node: str, counts: GraderCounts) -> GraderScores:
    return GraderScores(
        node=node,
        n_judged=counts.judged,
        n_gold=counts.gold,
        n_approved=counts.approved,
        n_approved_gold=counts.approved_gold,
        n_undecided=counts.undecided,
        precision=counts.precision,
        recall=counts.recall,
        base_rate=counts.gold / counts.judged,
    )


def _confusion(needed: Mapping[str, Route], taken: Mapping[str, Route]) -> RouteConfusion | None:
    pairs = Counter((way, taken[question_id]) for question_id, way in needed.items() if question_id in taken)
    if not pairs:
        return None
    cost = {route: place for place, route in enumerate(ROUTES)}
    return RouteConfusion(
        n=pairs.total(),
        agreement=sum(count for (way, sent), count in pairs.items() if way == sent) / pairs.total(),
        n_cheaper=sum(count for (way, sent), count in pairs.items() if cost[sent] < cost[way]),
        n_dearer=sum(count for (way, sent), count in pairs.items() if cost[sent] > cost[way]),
        counts=[RouteCount(needed=way, taken=sent, n=count) for (way, sent), count in sorted(pairs.items())],
    )


def _rewriting(counts: RetrievalCounts) -> RewriteScores | None:
    if not counts.rewrites:
        return None
    before, after = fmean(one.before for one in counts.rewrites), fmean(one.after for one in counts.rewrites)
    return RewriteScores(
        n_questions=len(counts.rewrites),
        recall_before=before,
        recall_after=after,
        recall_alone=fmean(one.alone for one in counts.rewrites),
        gain=after - before,
    )
