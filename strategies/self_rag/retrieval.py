"""The Retrieve decision (paper section 3.3, appendix A.3), and what it changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.types import Decision, Passage
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.scores import retrieval_share
from strategies.self_rag.state import Action, Plan, Reading

_ACTIONS: dict[str, Action] = {"yes": "yes", "unreadable": "yes", "continue": "continue", "no": "no"}


def decide(reading: Reading, params: SelfRagParams, *, evidence: bool) -> tuple[Action, Decision]:
    """What to do, and the decision as the trace keeps it.

    Soft: P(yes) / (P(yes) + P(no)) above delta retrieves; below, `continue` where it is likelier than `no` and there
    is evidence to go on with. At T0 the label decides, and under hard constraints the label alone. A decision that
    could not be read retrieves.
    """
    choice = reading.label or "no"
    share = threshold = origin = None
    if not reading.probabilities:
        choice = "unreadable"
    elif params.constraints == "soft" and reading.tier != "T0":
        share, threshold, origin = retrieval_share(reading.probabilities), params.delta, params.delta_origin
        choice = "yes" if share is not None and share > params.delta else _other_than_yes(reading)
    if choice == "continue" and not evidence:
        choice = "no"
    return _ACTIONS[choice], Decision("retrieve?", choice, share, threshold, origin, tier=reading.tier)


def forced(params: SelfRagParams) -> tuple[Action, Decision]:
    """The decision of the ablations `always` and `never`: no judgement, no threshold."""
    action: Action = "yes" if params.retrieval == "always" else "no"
    return action, Decision("retrieve?", action, origin="user")


def outcome(plan: Plan, brought: Sequence[Passage], before: frozenset[str], *, first: bool) -> Decision:
    """The decision once it is known what was brought; `before`: ids of the passages that were there already.

    Beside a single retrieval for the question: `no` leaves evidence out; a later retrieval asks another query, and
    changes the evidence if it brings a passage that none before it did; `continue` keeps what is there.
    """
    changed: tuple[str, ...] = ()
    if plan.action == "no":
        changed = ("evidence",)
    elif plan.action == "yes" and not first:
        new = any(passage.passage_id not in before for passage in brought)
        changed = ("query", "evidence") if new else ("query",)
    return replace(plan.decision, changed=changed)


def _other_than_yes(reading: Reading) -> str:
    likelier = reading.probabilities.get("continue", 0.0) > reading.probabilities.get("no", 0.0)
    return "continue" if likelier else "no"
