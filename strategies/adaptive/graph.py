"""The graph of Adaptive-RAG: one decision, taken once, and the three strategies behind it.

The classifier's prompt shows the question and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, isclose, isfinite, log

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from arena.errors import StrategyError
from arena.protocols import Judgement, Message, Router, Tools
from arena.types import Decision, Tier
from strategies.adaptive.params import LABELS, AdaptiveParams, Label, Policy, read_labels
from strategies.answer import contents, worked
from strategies.base import GraphStrategy, path, wired
from strategies.ircot.graph import LOOP, WAYS, IrcotState, loop_nodes
from strategies.nodes import generate, writer_of

_RULES = """\
Say how much must be looked up in order to answer a question.
A: nothing; it is common knowledge.
B: one thing; a single text about what the question names holds the answer.
C: several things, one after another; what the question names must first lead to something it does not name."""
_EXAMPLES = (
    ("How many days are there in a week?", "A"),
    ("Who built Pell Light?", "B"),
    ("Where was the builder of Pell Light born?", "C"),
    ("In which year did the Orrin Ferry begin to sail?", "B"),
    ("On which river is the harbour from which the Orrin Ferry sails?", "C"),
    ("What colour is snow?", "A"),
)


def classifier_prompt(question: str) -> tuple[Message, ...]:
    """Rules, two examples of each label (about a made-up place where something is to be looked up), the question."""
    shown = worked((_ask(asked), label) for asked, label in _EXAMPLES)
    return (Message("system", _RULES), *shown, Message("user", _ask(question)))


def _ask(question: str) -> str:
    return f"Question: {question}\nReply with one of: A, B, C"


TEMPLATES = contents(classifier_prompt("QUESTION"))
"""Every text that a label is asked with, around a sample question; they identify the prompt's version."""


FIGURE = (
    path(START, "classify", "answer_plain", END)
    | path("classify", "retrieve", "generate")
    | path("retrieve", "collect")
    | LOOP
)

_FIXED: Mapping[Policy, Label] = {"always_a": "A", "always_b": "B", "always_c": "C"}
_UNKNOWN: Label = "B"
"""What a question without a readable label gets: the yardstick's one retrieval."""


class AdaptiveState(IrcotState, total=False):
    """label: the question's complexity; given once, by `classify`."""

    label: Label


@dataclass(frozen=True, slots=True)
class Labelling:
    """The node that labels. `known`: question text -> label, for policy `oracle`."""

    params: AdaptiveParams
    known: Mapping[str, Label] = field(default_factory=dict)

    async def classify(self, state: AdaptiveState, runtime: Runtime[Tools]) -> AdaptiveState:
        """Label the question; a label that is fixed or known costs no call."""
        policy = self.params.policy
        if policy == "classifier":
            writer = writer_of(runtime.context)
            judgement = await writer.classify(classifier_prompt(state["question"]), LABELS, role="classify")
            decision = self._judged(judgement)
        elif policy == "router":
            router = runtime.context.router
            if router is None:
                raise StrategyError("policy router is set and none was given: the contestant has no router")
            decision = self._by_shares(await _routed(state["question"], router), tier=router.tier)
        elif policy == "oracle":
            label = self.known.get(state["question"])
            decision = _decision(label or _UNKNOWN, subject=None if label else "no label")
        else:
            decision = _decision(_FIXED[policy])
        return {"label": _label(decision.choice), "decisions": (decision,)}

    def _judged(self, judgement: Judgement) -> Decision:
        shares = judgement.probabilities if self.params.judge == "probabilities" else None
        tier: Tier = "T0" if shares is None else "T1"
        if judgement.label not in LABELS:
            return _decision(_UNKNOWN, tier=tier, subject="unreadable")
        if shares is None:
            return _decision(_label(judgement.label), tier=tier)
        return self._by_shares(shares, tier=tier)

    def _by_shares(self, shares: Mapping[str, float], *, tier: Tier) -> Decision:
        chosen, plain = preferred(shares, self.params.cost_bias), preferred(shares, 0.0)
        biased = None if chosen == plain else f"by cost, instead of {plain}"
        decision = _decision(chosen, tier=tier, score=shares.get(chosen, 0.0), subject=biased)
        parts: dict[str, float] = {label: shares.get(label, 0.0) for label in LABELS}
        return replace(decision, origin=self.params.bias_origin, parts=parts)


def preferred(probabilities: Mapping[str, float], cost_bias: float) -> Label:
    """The label with the largest log p - cost_bias * cost, A costing 0, B 1 and C 2; of equals, the cheapest."""

    def worth(label: Label) -> float:
        share = probabilities.get(label, 0.0)
        return (log(share) if share > 0 else -inf) - cost_bias * LABELS.index(label)

    return max(LABELS, key=worth)


async def _routed(question: str, router: Router) -> Mapping[str, float]:
    """The router's probabilities of the three labels; they cost no call."""
    shares = await asyncio.to_thread(router.probabilities, question)
    if set(shares) != set(LABELS) or not all(map(isfinite, shares.values())) or not isclose(sum(shares.values()), 1.0):
        raise StrategyError(f"router {dict(router.identity)!r} gave {dict(shares)!r:.100}, no shares of A, B, C")
    return shares


async def by_label(state: AdaptiveState) -> str:
    """A answers at once; B and C retrieve."""
    return "answer_plain" if state["label"] == "A" else "retrieve"


async def by_strategy(state: AdaptiveState) -> str:
    """B reads what it got; C goes on."""
    return "generate" if state["label"] == "B" else "collect"


def build(params: AdaptiveParams) -> GraphStrategy:
    """The figure: START -> classify -> A, B or C.

    Raises:
        ConfigError: the file of labels is missing or malformed.
    """
    known = read_labels(params.oracle_labels)[0] if params.policy == "oracle" and params.oracle_labels else {}
    nodes = {"classify": Labelling(params, known).classify, "answer_plain": generate, **loop_nodes(params)}
    ways = {"classify": by_label, "retrieve": by_strategy, **WAYS}
    return GraphStrategy(wired("adaptive", AdaptiveState, FIGURE, nodes, ways))


def _decision(
    label: Label, *, tier: str | None = None, score: float | None = None, subject: str | None = None
) -> Decision:
    """Beside the yardstick's one retrieval, which label B is, the others change the evidence."""
    changed = () if label == "B" else ("evidence",)
    return Decision("classify", label, score, changed=changed, tier=tier, subject=subject)


def _label(text: str) -> Label:
    return next(label for label in LABELS if label == text)
