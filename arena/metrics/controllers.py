"""What a controller's branches came to: how often each fired, and how often it changed anything.

A strategy that grades and then does the same whatever the grade costs calls and earns nothing; its answers look
like those of a working one. Only the decisions tell.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import get_args

from arena.metrics.case import Case
from arena.metrics.grading import GraderTally, count_verdicts
from arena.metrics.rewriting import RetrievalTally
from arena.metrics.routing import RouteTally
from arena.types import Decision, RunRecord, Tier

TIERS: tuple[Tier, ...] = get_args(Tier)
"""The lowest first."""


@dataclass(slots=True)
class Branch:
    """One choice of one node. `questions` took it at least once, `times` is how often it was taken in all.

    `altered` (`evidence`, `query`, `answer` -> times) counts what it changed; `effective` is how many times it changed
    anything at all.
    """

    choice: str
    questions: int = 0
    times: int = 0
    effective: int = 0
    altered: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Controller:
    """A node that decides, and the branches it took, in the order in which they were first taken.

    `verdicts` of its decisions are about one retrieved passage.
    """

    node: str
    questions: int = 0
    verdicts: int = 0
    branches: dict[str, Branch] = field(default_factory=dict)

    @property
    def only_judges(self) -> bool:
        """Whether it hands verdicts on single passages to another node, whose branches show what they came to."""
        return self.verdicts == sum(branch.times for branch in self.branches.values()) and self._idle

    @property
    def never_changed_anything(self) -> bool:
        """Whether it is a no-op: it took branches, not only gave verdicts, and none of them had an effect."""
        return self._idle and not self.only_judges

    @property
    def _idle(self) -> bool:
        return not any(branch.effective for branch in self.branches.values())


@dataclass(slots=True)
class DecisionTally:
    """Decisions of one cell, added question by question; nothing but counts is kept.

    `questions` were completed; a failed one has no decisions and is not counted. `judgements`: tier
    of `TIERS` -> decisions that rest on a judgement of that tier. `uncalibrated`: node -> default thresholds that it
    held the probabilities of a general model to (T1): a label needs no threshold, and a trained model has the paper's.
    """

    questions: int = 0
    controllers: dict[str, Controller] = field(default_factory=dict)
    judgements: Counter[str] = field(default_factory=Counter)
    uncalibrated: dict[str, set[float]] = field(default_factory=dict)

    def add(self, record: RunRecord) -> None:
        """Count one question."""
        if record.answer is None:
            return
        self.questions += 1
        passages = {hit.passage_id for retrieval in record.retrievals for hit in retrieval.hits}
        for decision in record.decisions:
            self._count(decision, verdict=decision.subject in passages)
        taken = dict.fromkeys((decision.node, decision.choice) for decision in record.decisions)
        for node, choice in taken:
            self.controllers[node].branches[choice].questions += 1
        for node in dict.fromkeys(node for node, _ in taken):
            self.controllers[node].questions += 1

    def always(self, controller: Controller) -> str | None:
        """The choice that `controller` took on every question (None: it took several, or was not always asked).

        One question proves no habit.
        """
        if len(controller.branches) != 1 or self.questions < 2 or controller.questions < self.questions:
            return None
        return next(iter(controller.branches))

    @property
    def tier(self) -> Tier | None:
        """The lowest tier of any judgement, which is what the whole cell can claim; None without a judgement."""
        return next((tier for tier in TIERS if self.judgements[tier]), None)

    def _count(self, decision: Decision, *, verdict: bool) -> None:
        controller = self.controllers.setdefault(decision.node, Controller(decision.node))
        controller.verdicts += verdict
        branch = controller.branches.setdefault(decision.choice, Branch(decision.choice))
        branch.times += 1
        branch.effective += bool(decision.changed)
        branch.altered.update(set(decision.changed))
        if decision.tier in TIERS:
            self.judgements[decision.tier] += 1
        if decision.tier == "T1" and decision.origin == "default" and decision.threshold is not None:
            self.uncalibrated.setdefault(decision.node, set()).add(decision.threshold)


@dataclass(slots=True)
class ControllerTally:
    """The decisions of one cell held against gold, added question by question: what they were worth, not how many.

    `graders`: node -> its verdicts on passages.
    """

    graders: dict[str, GraderTally] = field(default_factory=dict)
    routes: RouteTally = field(default_factory=RouteTally)
    retrievals: RetrievalTally = field(default_factory=RetrievalTally)

    def add(self, case: Case) -> None:
        """Count one question; what of it has no gold to be held against is left out."""
        if case.record.answer is not None:
            count_verdicts(self.graders, case)
            self.routes.add(case)
            self.retrievals.add(case)
