"""The graph of Corrective RAG, line by line as in the figure: its state, its nodes and its action trigger.

The trigger (paper section 4.3) turns the passages' scores into one of three actions.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from arena.errors import AllowanceSpent, ModelCallError, StrategyError
from arena.protocols import Tools
from arena.types import Decision, Passage
from strategies.base import GraphStrategy, named, path, wired
from strategies.corrective.evaluator import PassageScore, evaluate, keywords_prompt
from strategies.corrective.params import CorrectiveParams, Threshold, Thresholds
from strategies.corrective.refining import Strip, parse_keywords, recompose, refine_strips, whole_passages
from strategies.nodes import RagState, generate, retrieve, writer_of

Action = Literal["correct", "ambiguous", "incorrect"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """An action, the best score (None: there was no passage), and the threshold that it reached or missed."""

    action: Action
    best: float | None
    threshold: Threshold


def trigger(scores: Sequence[float], thresholds: Thresholds) -> Trigger:
    """Any score at or above upper: correct; else any at or above lower: ambiguous; else, and of nothing: incorrect.

    The paper says above and below; its code compares with >=, and so does this.
    """
    best = max(scores, default=None)
    if best is not None and best >= thresholds.upper.value:
        return Trigger("correct", best, thresholds.upper)
    if best is not None and best >= thresholds.lower.value:
        return Trigger("ambiguous", best, thresholds.lower)
    return Trigger("incorrect", best, thresholds.lower)


class CorrectiveState(RagState, total=False):
    """State of one question.

    marks: the evaluator's score of each of the retrieved `passages`, in their order.
    action: what the scores call for.
    internal: what refinement left of the retrieved passages.
    found: what the external search brought.
    external: what selection left of that.
    errors: of the branches that go side by side; raised when both have ended.
    """

    marks: tuple[PassageScore, ...]
    action: Action
    internal: tuple[Strip, ...]
    found: tuple[Passage, ...]
    external: tuple[Strip, ...]
    errors: Annotated[tuple[ModelCallError | AllowanceSpent, ...], operator.add]


@dataclass(frozen=True, slots=True)
class CorrectiveNodes:
    """Every node and router that depends on the settings."""

    params: CorrectiveParams

    async def evaluate(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """Score every retrieved passage against the question, all in parallel."""
        passages = state["passages"]
        marks = await evaluate(state["question"], passages, runtime.context, self.params, role="evaluate")
        pairs = zip(passages, marks, strict=True)
        return {"marks": tuple(marks), "decisions": tuple(self._verdict(*pair) for pair in pairs)}

    async def decide_action(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """Correct, ambiguous or incorrect; an incorrect retrieval is discarded whole.

        Beside a retrieval that is correct: all but that ask the external source too, where there is one.
        """
        marks = state["marks"]
        found = trigger([mark.score for mark in marks], self.params.thresholds)
        discards = ("evidence",) if found.action == "incorrect" and marks else ()
        asks = ("query",) if found.action != "correct" and self.params.external != "off" else ()
        # The lowest tier of any judgement is what the whole can claim.
        tier = min((mark.tier for mark in marks if mark.tier), default=None)
        cut, changed = found.threshold, (*discards, *asks)
        decision = Decision("decide_action", found.action, found.best, cut.value, cut.origin, changed, tier)
        return {"action": found.action, "decisions": (decision,)}

    async def next_nodes(self, state: CorrectiveState) -> list[str]:
        """Where each action leads; an ambiguous one leads both ways at once."""
        return {"correct": ["refine"], "incorrect": ["rewrite"], "ambiguous": ["refine", "rewrite"]}[state["action"]]

    async def refine(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """Keep the best strips of the retrieved passages; when none is good enough, the very best one.

        An error waits for `rewrite`, which may go on beside it: raised here, it would cancel a call that is paid for.
        """
        passages = state["passages"]
        known = {passage.passage_id: mark for passage, mark in zip(passages, state["marks"], strict=True)}
        try:
            kept, decision = await self._select("refine", state["question"], passages, known, runtime.context)
        except (ModelCallError, AllowanceSpent) as error:
            return {"errors": (error,)}
        return {"internal": kept, "decisions": (decision,)}

    async def rewrite(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """The question as keywords for the external search; without one nothing is asked. Errors: see `refine`."""
        if self.params.external == "off":
            return {}
        question = state["question"]
        messages = keywords_prompt(question, self.params.keywords)
        try:
            reply = await writer_of(runtime.context).write(messages, role="rewrite")
        except (ModelCallError, AllowanceSpent) as error:
            return {"errors": (error,)}
        keywords = parse_keywords(reply, self.params.keywords)
        if not keywords:
            return {"search_query": question, "decisions": (Decision("rewrite", "question"),)}
        query = ", ".join(keywords)
        changed = ("query",) if query != question else ()
        return {"search_query": query, "decisions": (Decision("rewrite", "keywords", changed=changed),)}

    async def search(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """Ask the external source for the keywords."""
        _raise_first(state)
        if self.params.external == "off":
            return {"found": (), "decisions": (Decision("search", "off"),)}
        source = runtime.context.external
        if source is None:
            raise StrategyError("corrective is to search externally and was given no external source")
        request = replace(runtime.context.settings.request(state["search_query"]), k=self.params.external_results)
        retrieval = await source.retrieve(request)
        hits = retrieval.hits[: self.params.external_results]
        ids = tuple(hit.doc_id for hit in hits)
        new = ("evidence",) if set(ids) - set(state.get("retrieved_ids", ())) else ()
        return {
            "found": tuple(source.passage(hit.passage_id) for hit in hits),
            "retrieved_ids": ids,
            "decisions": (Decision("search", "found" if hits else "nothing", changed=new),),
        }

    async def select_external(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """Keep the best strips of what was found, by the rule of internal knowledge; possibly none."""
        found = state["found"]
        if not found:
            return {"external": ()}
        kept, decision = await self._select("select_external", state["question"], found, {}, runtime.context)
        return {"external": kept, "decisions": (decision,)}

    async def recompose(self, state: CorrectiveState, runtime: Runtime[Tools]) -> CorrectiveState:
        """The kept strips as passages, internal knowledge first. Without any the model's own has to do: say so."""
        _raise_first(state)
        knowledge = recompose((*state.get("internal", ()), *state.get("external", ())))
        if knowledge:
            return {"passages": knowledge}
        lost = ("evidence",) if state.get("retrieved_ids") else ()
        return {"passages": (), "decisions": (Decision("recompose", "without_knowledge", changed=lost),)}

    async def salvage(self, state: CorrectiveState, runtime: Runtime[Tools]) -> RagState:
        """The answer when no more calls may be made: from what was kept so far, never from what was rejected."""
        kept = (*state.get("internal", ()), *state.get("external", ()))
        if not kept and state.get("action") == "incorrect":
            passages = recompose(whole_passages(state.get("found", ()))) if "external" not in state else ()
        else:
            passages = recompose(kept) or state.get("passages", ())
        shown: CorrectiveState = {**state, "passages": passages}
        return await generate(shown, runtime)

    def _verdict(self, passage: Passage, mark: PassageScore) -> Decision:
        one = trigger([mark.score], self.params.thresholds)
        return Decision(
            "evaluate",
            "unreadable" if mark.unreadable else one.action,
            mark.score,
            one.threshold.value,
            one.threshold.origin,
            tier=mark.tier,
            subject=passage.passage_id,
            parts={"shortened": 1.0} if mark.shortened else {},
        )

    async def _select(
        self,
        node: Literal["refine", "select_external"],
        question: str,
        passages: Sequence[Passage],
        known: Mapping[str, PassageScore],
        tools: Tools,
    ) -> tuple[tuple[Strip, ...], Decision]:
        """The strips that are kept, and the decision that says so. Of knowledge in hand the best one always is."""
        if self.params.decompose == "none":
            return whole_passages(passages), Decision(node, "unrefined")
        refined = await refine_strips(question, passages, tools, self.params, role=node, known=known)
        kept, best = refined.kept, refined.best
        choice = "filtered" if len(kept) < refined.total else "kept_all"
        if not kept and node == "select_external":
            choice = "kept_none"
        elif not kept and best:
            choice, kept = "best_strip", (best[0],)
        score, tier = (best[1].score, best[1].tier) if best else (None, None)
        dropped = ("evidence",) if len(kept) < refined.total else ()
        cut, count = self.params.thresholds.strips, f"{len(kept)} of {refined.total} strips"
        return kept, Decision(node, choice, score, cut.value, cut.origin, dropped, tier, count)


def _raise_first(state: CorrectiveState) -> None:
    """Raise what a branch met: a failed call, which is the question's failure, before an allowance that is spent."""
    errors = sorted(state.get("errors", ()), key=lambda error: isinstance(error, AllowanceSpent))
    if errors:
        raise errors[0]


_INTERNAL = path(START, "retrieve", "evaluate", "decide_action", "refine", "recompose", "generate", END)
FIGURE = _INTERNAL | path("decide_action", "rewrite", "search", "select_external", "recompose")


def build(params: CorrectiveParams) -> GraphStrategy:
    """Correct: refine. Incorrect: rewrite, search, select. Ambiguous: both at once. Then generate, once; no loop."""
    nodes = CorrectiveNodes(params)
    judging = named(retrieve, nodes.evaluate, nodes.decide_action)
    correcting = named(nodes.refine, nodes.rewrite, nodes.search, nodes.select_external, nodes.recompose, generate)
    ways = {"decide_action": nodes.next_nodes}
    graph = wired("corrective", CorrectiveState, FIGURE, judging | correcting, ways, last=("recompose",))
    return GraphStrategy(graph, salvage=nodes.salvage)
