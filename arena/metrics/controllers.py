"""What the decisions of a controller were worth: its branches, its routes, its repeated retrievals and its grades.

Decisions are understood by the names under which strategies record them. A strategy of one's own that records the same
nodes and choices is scored alike; others are counted only. A strategy that grades and then does the same whatever the
grade costs calls and earns nothing; its answers look like those of a working one, and only the decisions tell.

The right route is the cheapest that answers right (Adaptive-RAG, arXiv 2403.14403, section 3.2). Grades of passages are
held against the gold documents, and so are the documents of later retrievals beside those of the first query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from arena.metrics.answer import exact_match
from arena.metrics.case import Case
from arena.types import FIT, GOLD_MODE, NO_RETRIEVAL_MODE, Cell, Decision, RunRecord, Tier

Route = Literal["A", "B", "C"]
"""Adaptive-RAG's labels: A no retrieval, B one, C several, one after another."""

ROUTES: tuple[Route, ...] = get_args(Route)

_ROUTING = "classify"
_ALLOWANCE = ("allowance", "spent")
_CAPS = frozenset({("exit", "cap"), ("stop", "depth")})
_NO_ROOM = ("collect", "full")
_APPROVING = frozenset({"correct", "relevant", "yes", "kept"})
_UNDECIDED = frozenset({"ambiguous", "unsure", "unreadable"})


def route_taken(record: RunRecord) -> Route | None:
    """The label that the question was given; None where nothing labels."""
    label = next((decision.choice for decision in record.decisions if decision.node == _ROUTING), None)
    return next((route for route in ROUTES if route == label), None)


def route_needed(hops: int | None) -> Route | None:
    """What a question of so many hops needs: B for one, C for several; None where hops are not known.

    A is not needed by any: whether a model knows an answer by heart, hops do not say.
    """
    return None if not hops else "B" if hops == 1 else "C"


def allowance_was_spent(record: RunRecord) -> bool:
    """Whether the answer is what could be saved when the question had used up its calls or tokens."""
    return any((decision.node, decision.choice) == _ALLOWANCE for decision in record.decisions)


def was_capped(record: RunRecord) -> bool:
    """Whether a loop ended at its cap, with its text unfinished, and not by itself."""
    return any((decision.node, decision.choice) in _CAPS and decision.changed for decision in record.decisions)


def had_no_room(record: RunRecord) -> bool:
    """Whether something retrieved was left out for want of room: of passages allowed, or of the model's window."""
    return any((one.node, one.choice) == _NO_ROOM or one.node == FIT for one in record.decisions)


def verdicts(record: RunRecord) -> Iterator[tuple[str, str, bool | None]]:
    """(node, document id, approved) for each verdict on a retrieved passage; approved None = undecided, unreadable."""
    documents = {hit.passage_id: hit.doc_id for retrieval in record.retrievals for hit in retrieval.hits}
    for decision in record.decisions:
        if decision.subject in documents:
            approved = None if decision.choice in _UNDECIDED else decision.choice in _APPROVING
            yield decision.node, documents[decision.subject], approved


_ALONE: Mapping[str, Route] = {"closed_book": "A", "vanilla": "B", "ircot": "C"}
_POLICIES: Mapping[str, Route] = {"always_a": "A", "always_b": "B", "always_c": "C"}
_POLICY = "policy"


@dataclass(slots=True)
class RouteCounts:
    """By question id: the way it was sent (`taken`), the way its hops ask for (`needed`), whether it came out right.

    A question that failed, or that has no short gold answer, is not in `right`.
    """

    taken: dict[str, Route] = field(default_factory=dict)
    needed: dict[str, Route] = field(default_factory=dict)
    right: dict[str, bool] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Note one question."""
        record, question_id = case.record, case.record.question_id
        if taken := route_taken(record):
            self.taken[question_id] = taken
            if case.gold.answerable and (needed := route_needed(case.question.hops)):
                self.needed[question_id] = needed
        if record.answer is not None and case.gold.answerable and case.question.kind != "summary":
            exact = exact_match(record.answer.text or "", case.gold.answers, official=case.gold.official)
            self.right[question_id] = not record.answer.abstained and bool(exact)


def fixed_route(cell: Cell) -> Route | None:
    """The way that a row sends every question, by its name or its policy; None where it decides, or is another kind."""
    return _POLICIES.get(str(cell.params.get(_POLICY))) or _ALONE.get(cell.strategy)


def oracle_routes(router: Cell, rows: Iterable[tuple[Cell, RouteCounts]]) -> Mapping[str, Route]:
    """Question id -> the cheapest way whose row answers it right.

    Of the rows with the router's model, mode (a row that reads nothing has none) and parameters, as far as both have
    them. Empty unless the run has a row for every way. A question is left out that no row answers, or of which a
    cheaper row is not known.
    """
    chosen: dict[Route, Mapping[str, bool]] = {}
    for cell, tally in rows:
        route = fixed_route(cell)
        if route is not None and route not in chosen and _is_comparable(cell, router):
            chosen[route] = tally.right
    if len(chosen) < len(ROUTES):
        return {}
    asked = dict.fromkeys(question_id for right in chosen.values() for question_id in right)
    cheapest = {question_id: _cheapest([chosen[route].get(question_id) for route in ROUTES]) for question_id in asked}
    return {question_id: route for question_id, route in cheapest.items() if route is not None}


def _cheapest(outcomes: Iterable[bool | None]) -> Route | None:
    for route, right in zip(ROUTES, outcomes, strict=True):
        if right is None:
            return None
        if right:
            return route
    return None


def _is_comparable(row: Cell, router: Cell) -> bool:
    shared = (row.params.keys() & router.params.keys()) - {_POLICY}
    alike = all(row.params[name] == router.params[name] for name in shared)
    return row.llm == router.llm and row.retrieval_mode in (router.retrieval_mode, NO_RETRIEVAL_MODE) and alike


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Recall, in [0, 1], of one question that was asked under several queries.

    Of what its first query found (`before`), of what all of them found together (`after`), and of what the last one
    found by itself (`alone`): that is what a strategy has which replaces its passages.
    """

    before: float
    after: float
    alone: float


@dataclass(slots=True)
class RetrievalCounts:
    """Retrievals of one cell, on questions with gold documents.

    `wasted` of them brought no gold document that none before had; `needless` of these came when all gold was there.
    `repeated` questions had more than one retrieval; `rewrites`: one entry for each that was asked under other words.
    """

    retrievals: int = 0
    wasted: int = 0
    needless: int = 0
    repeated: int = 0
    rewrites: list[Rewrite] = field(default_factory=list)

    def add(self, case: Case) -> None:
        """Count one question. What a control is handed by construction is no retrieval."""
        gold = frozenset(case.gold.supporting_ids)
        if not gold or case.record.cell.retrieval_mode == GOLD_MODE:
            return
        seen: frozenset[str] = frozenset()
        by_query: dict[str, frozenset[str]] = {}
        for retrieval in case.record.retrievals:
            found = gold.intersection(hit.doc_id for hit in retrieval.hits)
            self.wasted += found <= seen
            self.needless += seen == gold
            seen |= found
            query = retrieval.request.query
            by_query[query] = by_query.get(query, frozenset()) | found
        self.retrievals += len(case.record.retrievals)
        self.repeated += len(case.record.retrievals) > 1
        if len(by_query) > 1:
            first, *_, last = by_query.values()
            self.rewrites.append(Rewrite(*(len(found) / len(gold) for found in (first, seen, last))))


@dataclass(slots=True)
class GraderCounts:
    """Verdicts of one node; a passage that is judged again counts again.

    `gold`: verdicts on passages of gold documents, `approved_gold` of them approving. `undecided`: neither way, or not
    readable; they approve nothing.
    """

    judged: int = 0
    gold: int = 0
    approved: int = 0
    approved_gold: int = 0
    undecided: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the approved that is gold, in [0, 1]; None when nothing was approved."""
        return self.approved_gold / self.approved if self.approved else None

    @property
    def recall(self) -> float | None:
        """Share of the judged gold that was approved, in [0, 1]; None when none was judged."""
        return self.approved_gold / self.gold if self.gold else None

    def add(self, approved: bool | None, *, gold: bool) -> None:
        """Count one verdict."""
        self.judged += 1
        self.gold += gold
        self.approved += bool(approved)
        self.approved_gold += bool(approved) and gold
        self.undecided += approved is None


TIERS: tuple[Tier, ...] = get_args(Tier)
"""The lowest first."""


@dataclass(slots=True)
class BranchCounts:
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
    branches: dict[str, BranchCounts] = field(default_factory=dict)

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
class DecisionCounts:
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
        branch = controller.branches.setdefault(decision.choice, BranchCounts(decision.choice))
        branch.times += 1
        branch.effective += bool(decision.changed)
        branch.altered.update(set(decision.changed))
        if decision.tier in TIERS:
            self.judgements[decision.tier] += 1
        if decision.tier == "T1" and decision.origin == "default" and decision.threshold is not None:
            self.uncalibrated.setdefault(decision.node, set()).add(decision.threshold)


@dataclass(slots=True)
class ControllerCounts:
    """The decisions of one cell held against gold, added question by question: what they were worth, not how many.

    `graders`: node -> its verdicts on passages.
    """

    graders: dict[str, GraderCounts] = field(default_factory=dict)
    routes: RouteCounts = field(default_factory=RouteCounts)
    retrievals: RetrievalCounts = field(default_factory=RetrievalCounts)

    def add(self, case: Case) -> None:
        """Count one question; what of it has no gold to be held against is left out."""
        if case.record.answer is not None:
            gold = set(case.gold.supporting_ids)
            for node, doc_id, approved in verdicts(case.record) if gold else ():
                self.graders.setdefault(node, GraderCounts()).add(approved, gold=doc_id in gold)
            self.routes.add(case)
            self.retrievals.add(case)
