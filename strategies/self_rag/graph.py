"""The graph of Self-RAG (paper's algorithm 1 and figure 1), one level of the segment beam search a round.

The decision to retrieve is that of paper section 3.3 and appendix A.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from arena.errors import AllowanceSpent, ModelCallError, StrategyError
from arena.protocols import Message, Tools, Writer
from arena.types import Decision, Passage
from strategies.answer import answer_prompt
from strategies.base import GraphStrategy, named, path, wired
from strategies.fitting import from_passages
from strategies.nodes import RagState, all_of, answer_from, document_ids, generate, retrieve, writer_of
from strategies.self_rag.checkpoint import TrainedCritic
from strategies.self_rag.params import SelfRagParams, retrieval_share
from strategies.self_rag.prompted import Critic, PromptedCritic
from strategies.self_rag.selection import ranking, select, stopped
from strategies.self_rag.state import (
    Action,
    Beam,
    Branch,
    BranchState,
    Candidate,
    Draft,
    Plan,
    Reflection,
    SelfRagState,
)

_ACTIONS: dict[str, Action] = {"yes": "yes", "unreadable": "yes", "continue": "continue", "no": "no"}


def decide(reading: Reflection, params: SelfRagParams, *, evidence: bool) -> tuple[Action, Decision]:
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


def _other_than_yes(reading: Reflection) -> str:
    likelier = reading.probabilities.get("continue", 0.0) > reading.probabilities.get("no", 0.0)
    return "continue" if likelier else "no"


@dataclass(frozen=True, slots=True)
class SelfRag:
    """The nodes under given settings; `critic` decides, writes and judges."""

    params: SelfRagParams
    critic: Critic

    async def decide_retrieve(self, state: SelfRagState, runtime: Runtime[Tools]) -> SelfRagState:
        """Decide for each unfinished text what its next segment needs (D1)."""
        beams = state.get("beams", (Beam(),))
        writer = writer_of(runtime.context)
        live = [(place, beam) for place, beam in enumerate(beams) if not beam.done]
        plans = await all_of([self._plan(state["question"], place, beam, writer) for place, beam in live])
        return {"beams": beams, "depth": state.get("depth", 0) + 1, "plans": tuple(plans)}

    async def fan_out(self, state: SelfRagState, runtime: Runtime[Tools]) -> SelfRagState:
        """Pair each text with each of its passages; without any it goes on from the model's knowledge.

        Retrievals stand in the order of their requests: LangGraph applies what branches write in that order,
        whichever came back first.
        """
        plans = state["plans"]
        asked = sum(plan.action == "yes" for plan in plans)
        earlier = len(state["passages"]) - asked
        arrived = iter(state["passages"][earlier:])
        before = frozenset(p.passage_id for retrieval in state["passages"][:earlier] for p in retrieval)
        known = _known_relevance(state)
        branches: list[Branch] = []
        decisions: list[Decision] = []
        for plan in plans:
            beam = state["beams"][plan.beam_place]
            passages = next(arrived) if plan.action == "yes" else ()
            decisions.append(outcome(plan, passages, before, first=state["depth"] == 1))
            if plan.action == "continue" and beam.evidence is not None:
                passages = (beam.evidence,)
            for passage in passages:
                relevance = known.get(passage.passage_id)
                branches.append(Branch(state["depth"], plan.beam_place, beam, passage, plan.action, relevance))
            if not passages:
                branches.append(Branch(state["depth"], plan.beam_place, beam))
        return {"branches": tuple(branches), "decisions": tuple(decisions)}

    async def candidate(self, state: BranchState, runtime: Runtime[Tools]) -> SelfRagState:
        """Write the next segment of one text from one passage, and judge it; without one its utility alone.

        An error waits until the other branches have ended: raised here, it would cancel calls that are paid for.
        """
        branch, writer = state["branch"], writer_of(runtime.context)

        def shown_in(shown: tuple[Passage, ...]) -> Branch:
            return replace(branch, passage=shown[0] if shown else None)

        def longest(shown: tuple[Passage, ...]) -> tuple[Message, ...]:
            """No prompt of this branch is longer by more than a sentence."""
            asked = answer_prompt(state["question"], shown, state["style"])
            return (*asked, Message("assistant", branch.beam.text)) if branch.beam.text else asked

        try:
            draft, shown, left_out = await from_passages(
                writer,
                longest,
                () if branch.passage is None else (branch.passage,),
                lambda _, kept: self.critic.extend(state["question"], state["style"], shown_in(kept), writer),
                subject=branch.passage.passage_id if branch.passage else None,
            )
        except (ModelCallError, AllowanceSpent) as error:
            return {"candidates": (Candidate(branch, Draft(""), error),)}
        return {"candidates": (Candidate(shown_in(shown), draft),), "decisions": left_out}

    async def select_beam(self, state: SelfRagState, runtime: Runtime[Tools]) -> SelfRagState:
        """Rank the candidates of this depth and keep the best texts (D2).

        Where the question's allowance ended on the way, those that were done by then are ranked, and it stops there.
        """
        depth, limit = state["depth"], self.params.depth_for(state["style"])
        fresh, spent = _completed([each for each in state["candidates"] if each.branch.level == depth])
        _check_that_something_was_said(state["beams"], fresh, self.params)
        selection = select(state["beams"], fresh, self.params, self.params.width_for(state["style"]))
        beams = tuple(survivor.beam for survivor in selection.survivors)
        decisions = ranking(selection, fresh, self.params, depth)
        stop = stopped(beams, depth, limit, self.params.depth_origin)
        if stop is not None and self.params.mode_for(state["style"]) == "long":
            decisions = (*decisions, stop)
        if spent is not None:
            decisions = (*decisions, Decision("allowance", "spent", changed=("answer",), subject=str(spent)))
        return {"beams": beams, "decisions": decisions, "spent": spent is not None}

    async def finish(self, state: SelfRagState, runtime: Runtime[Tools]) -> SelfRagState:
        """Hand over the best text; each kept segment cites the passages that it was written from."""
        best = state["beams"][0]
        shown = [passage for segment in best.segments for passage in segment.passages]
        cited = () if best.abstained else document_ids(shown)
        return {"answer": answer_from(shown, state, best.text, abstained=best.abstained, cited_ids=cited)}

    async def salvage(self, state: dict[str, Any], runtime: Runtime[Tools]) -> Any:
        """The best text so far; before there is any, what one retrieval and one call make."""
        if any(beam.segments for beam in state.get("beams", ())):
            return await self.finish(cast(SelfRagState, state), runtime)
        first = next(iter(state.get("passages", ())), ())
        return await generate(cast(RagState, state | {"passages": first}), runtime)

    async def after_deciding(self, state: SelfRagState) -> list[Send] | str:
        """One retrieval for each text that wants one."""
        asking = [plan for plan in state["plans"] if plan.action == "yes"]
        return [
            Send("retrieve", {"question": state["question"], "search_query": plan.query}) for plan in asking
        ] or "fan_out"

    async def after_fanning_out(self, state: SelfRagState) -> list[Send]:
        """One branch for each pair of a text and a passage."""
        given = {"question": state["question"], "style": state["style"]}
        return [
            Send("candidate" if branch.passage else "generate_plain", {**given, "branch": branch})
            for branch in state["branches"]
        ]

    async def after_selecting(self, state: SelfRagState) -> str:
        """Stop when all texts are complete or as long as they may be, or when nothing more may be asked."""
        ends = (
            state["spent"]
            or state["depth"] >= self.params.depth_for(state["style"])
            or all(beam.done for beam in state["beams"])
        )
        return "finish" if ends else "decide_retrieve"

    async def _plan(self, question: str, place: int, beam: Beam, writer: Writer) -> Plan:
        """The query of a later segment is the question and the last segment (paper's algorithm 1)."""
        query = f"{question} {beam.segments[-1].text}" if beam.segments else question
        if self.params.retrieval != "adaptive":
            action, decision = forced(self.params)
        else:
            reading: Reflection = await self.critic.decide(question, beam, writer)
            action, decision = decide(reading, self.params, evidence=beam.evidence is not None)
        subject = f"segment {len(beam.segments) + 1}, text {place + 1}"
        return Plan(place, action, query, replace(decision, subject=subject))


def _completed(fresh: Sequence[Candidate]) -> tuple[list[Candidate], AllowanceSpent | None]:
    """The candidates without an error, and whether others were kept back by the question's allowance.

    Raises:
        ModelCallError: the first failed call; it is the question's failure.
        AllowanceSpent: no candidate wrote anything before the allowance ended.
    """
    errors = [each.error for each in fresh if each.error is not None]
    for error in errors:
        if isinstance(error, ModelCallError):
            raise error
    completed = [each for each in fresh if each.error is None]
    spent = next((error for error in errors if isinstance(error, AllowanceSpent)), None)
    if spent is not None and not any(each.draft.text for each in completed):
        raise spent
    return completed, spent


def _known_relevance(state: SelfRagState) -> dict[str, Reflection | None]:
    """Relevance by passage id: it is judged of question and passage alone, so once is enough."""
    return {
        each.branch.passage.passage_id: each.draft.critique.relevance
        for each in state.get("candidates", ())
        if each.branch.passage is not None
    }


def _check_that_something_was_said(beams: Sequence[Beam], fresh: Sequence[Candidate], params: SelfRagParams) -> None:
    """A vote without a readable choice abstains; any other first segment without a text is a failure."""
    if params.options or any(beam.segments for beam in beams) or any(each.draft.text for each in fresh):
        return
    raise StrategyError(fresh[0].draft.fault or "the model wrote nothing: if it was cut off, raise segment_tokens")


_WITH_PASSAGES = path(START, "decide_retrieve", "retrieve", "fan_out", "candidate", "select_beam", "finish", END)
_WITHOUT = path("decide_retrieve", "fan_out", "generate_plain", "select_beam", "decide_retrieve")
FIGURE = _WITH_PASSAGES | _WITHOUT
"""Every unfinished text goes round at once: `retrieve` runs once a text, `candidate` once a text and passage."""


def build(params: SelfRagParams) -> GraphStrategy:
    """The figure under given settings."""
    nodes = SelfRag(params, TrainedCritic(params) if params.checkpoint else PromptedCritic(params))
    deciding = named(nodes.decide_retrieve, retrieve, nodes.fan_out)
    writing = named(nodes.candidate, nodes.select_beam, nodes.finish) | {"generate_plain": nodes.candidate}
    ways = {
        "decide_retrieve": nodes.after_deciding,
        "fan_out": nodes.after_fanning_out,
        "select_beam": nodes.after_selecting,
    }
    return GraphStrategy(wired("self_rag", SelfRagState, FIGURE, deciding | writing, ways), nodes.salvage)
