"""The ranking of a level as the run record keeps it. Pure.

`changed` compares with no ranking at all, where the best text goes on with the first passage that was brought.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.types import Decision, Tier
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.selection import Scored, Selection, score_parts
from strategies.self_rag.state import Beam, Candidate


def ranking(
    selection: Selection, fresh: Sequence[Candidate], params: SelfRagParams, segment: int
) -> tuple[Decision, ...]:
    """One decision a candidate, in the order made, then the constraints where they dropped any, then the choice."""
    changed = _changed(selection, fresh[0])
    about = f"segment {segment}"
    scored = {id(each.candidate): each for each in selection.scored}
    kept = [candidate for survivor in selection.survivors for candidate in survivor.candidates]
    decisions = []
    for candidate in fresh:
        each, passage = scored.get(id(candidate)), candidate.branch.passage
        decisions.append(
            Decision(
                "critique",
                _fate(each, kept),
                each.score if each else None,
                changed=changed if candidate is selection.winner else (),
                tier=candidate.draft.critique.tier,
                subject=passage.passage_id if passage else f"{about}, no passage",
                parts=score_parts(candidate.draft),
            )
        )
    if any(each.dropped for each in selection.scored):
        bent = ("evidence", "answer") if selection.bent else ()
        choice = "dropped all, kept the best" if selection.rescued else "dropped some"
        decisions.append(Decision("constraints", choice, origin="user", changed=bent, subject=about))
    if params.sequence_term and not params.options and not selection.with_sequence:
        about += ", no sequence term"
    best = selection.survivors[0].beam.score
    choice = _choice(selection, fresh[0])
    return (*decisions, Decision("select", choice, best, changed=changed, tier=_tier(fresh), subject=about))


def stopped(beams: Sequence[Beam], depth: int, limit: int, origin: str) -> Decision | None:
    """Why the search ends here: all texts are complete, or they are as long as they may be. None = it goes on."""
    if all(beam.done for beam in beams):
        return Decision("stop", "end", depth, limit, origin)
    cut = () if beams[0].done else ("answer",)
    return Decision("stop", "depth", depth, limit, origin, cut) if depth >= limit else None


def _changed(selection: Selection, first: Candidate) -> tuple[str, ...]:
    winner = selection.winner
    if winner is first:
        return ()
    if winner is None or winner.branch.beam_place != first.branch.beam_place:
        return ("evidence", "answer")
    evidence = ("evidence",) if winner.branch.passage != first.branch.passage else ()
    return (*evidence, "answer") if winner.draft.text != first.draft.text else evidence


def _choice(selection: Selection, first: Candidate) -> str:
    winner = selection.winner
    if winner is None:
        return "abstention" if selection.survivors[0].beam.abstained else "finished text"
    if winner.branch.passage is None:
        return "no passage"
    return "first passage" if winner.branch.passage == first.branch.passage else "later passage"


def _fate(scored: Scored | None, kept: Sequence[Candidate]) -> str:
    if scored is None:
        return "empty"
    if any(scored.candidate is candidate for candidate in kept):
        return "kept"
    return "dropped" if scored.dropped else "passed over"


def _tier(fresh: Sequence[Candidate]) -> Tier | None:
    return min((tier for each in fresh if (tier := each.draft.critique.tier)), default=None)
