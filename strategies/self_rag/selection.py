"""Which candidates live on: scores, hard constraints, votes, and the beams that are left.

An abstention is a candidate like any other. The paper knows none, so it has no rank of its own: its support and utility
decide.

The ranking of a level is kept in the run record. `changed` compares with no ranking at all, where the best text goes on
with the first passage that was brought.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.text import ABSTENTION
from arena.types import Decision, Tier
from strategies.self_rag.params import (
    RELEVANCE,
    SUPPORT,
    UTILITY,
    SelfRagParams,
    critique_score,
    expected,
    sequence_probability,
)
from strategies.self_rag.state import Beam, Candidate, Draft, Segment


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate that wrote something, its score f, and whether a hard constraint drops it."""

    candidate: Candidate
    score: float
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Survivor:
    """A text that lives on, and the candidates it goes on with: none for a finished text, several that voted alike."""

    beam: Beam
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What one level came to.

    `survivors`: best first. `scored`: in the order made. `with_sequence`: whether p(segment) is part of the scores.
    `rescued`: all candidates were dropped, and the best of them lives on all the same. `bent`: dropping changed which
    text is best.
    """

    survivors: tuple[Survivor, ...]
    scored: tuple[ScoredCandidate, ...]
    with_sequence: bool
    rescued: bool = False
    bent: bool = False

    @property
    def winner(self) -> Candidate | None:
        """The candidate that the best text goes on with; None when that is a finished one."""
        return next(iter(self.survivors[0].candidates), None)


def segment_score(draft: Draft, params: SelfRagParams, *, with_sequence: bool) -> float:
    """f: the critique score S, and p(segment) where asked for.

    A segment without a passage has S = w_use x s_use: the same scale, and no rank by right.
    """
    parts = score_parts(draft)
    relevance, support, utility = (parts.get(name, 0.0) for name in ("s_rel", "s_sup", "s_use"))
    score = critique_score(relevance, support, utility, params)
    return score + parts.get("p", 0.0) if with_sequence else score


def score_parts(draft: Draft) -> dict[str, float]:
    """What f is made of, by the paper's names; a part that was not judged is left out and counts 0."""
    critique = draft.critique
    readings = {
        "s_rel": (critique.relevance, RELEVANCE),
        "s_sup": (critique.support, SUPPORT),
        "s_use": (critique.utility, UTILITY),
    }
    parts = {name: expected(reading.probabilities, values) for name, (reading, values) in readings.items() if reading}
    if draft.mean_logprob is not None:
        parts["p"] = sequence_probability(draft.mean_logprob)
    return parts


def select(beams: Sequence[Beam], fresh: Sequence[Candidate], params: SelfRagParams, width: int) -> Selection:
    """The best `width` of the finished texts and of those that a candidate goes on with.

    A text that nothing was added to is finished. Equal scores: finished texts first, then better beams, then better
    ranked passages. With all candidates dropped, the best of them stays. The sequence term counts for all candidates
    of a level or for none, and never in a vote, which the paper takes over S.
    """
    speaking = [candidate for candidate in fresh if candidate.draft.text]
    with_sequence = (
        params.sequence_term
        and not params.options
        and bool(speaking)
        and all(candidate.draft.mean_logprob is not None for candidate in speaking)
    )
    hard = params.constraints == "hard"
    scored = tuple(
        ScoredCandidate(
            each, segment_score(each.draft, params, with_sequence=with_sequence), hard and _unsupported(each.draft)
        )
        for each in speaking
    )
    allowed = [each for each in scored if not each.dropped]
    rescued = bool(scored) and not allowed
    if rescued:
        allowed = [max(scored, key=lambda each: each.score)]
    survivors = _survivors(beams, fresh, allowed, params)[:width]
    unbound = survivors if rescued or len(allowed) == len(scored) else _survivors(beams, fresh, scored, params)
    return Selection(survivors, scored, with_sequence, rescued, unbound[0].beam.text != survivors[0].beam.text)


def extend(beam: Beam, scored: ScoredCandidate, params: SelfRagParams) -> Beam:
    """The beam with one segment more."""
    branch, draft = scored.candidate.branch, scored.candidate.draft
    shown = () if branch.passage is None else (branch.passage,)
    return Beam(
        segments=(*beam.segments, Segment(draft.text, shown, scored.score)),
        score=_accumulated(beam, scored.score, params),
        done=draft.done,
        abstained=draft.abstained,
        raw=beam.raw + draft.raw,
        upcoming=draft.upcoming,
    )


def _accumulated(beam: Beam, score: float, params: SelfRagParams) -> float:
    """The score of the text with one segment of `score` more."""
    n = len(beam.segments)
    if n == 0:
        return score
    if params.accumulate == "mean":
        return (beam.score * n + score) / (n + 1)
    return beam.score + score if params.accumulate == "sum" else beam.score * score


def vote(candidates: Sequence[ScoredCandidate]) -> Survivor:
    """The option with the largest sum of S over the candidates that chose it; of equal ones the one met first.

    Without any readable choice the answer is an abstention.
    """
    totals: dict[str, float] = {}
    for each in candidates:
        totals[each.candidate.draft.text] = totals.get(each.candidate.draft.text, 0.0) + each.score
    if not totals:
        return Survivor(Beam((Segment(ABSTENTION, (), 0.0),), done=True, abstained=True))
    option = max(totals, key=lambda text: totals[text])
    voters = tuple(each.candidate for each in candidates if each.candidate.draft.text == option)
    shown = tuple(voter.branch.passage for voter in voters if voter.branch.passage is not None)
    return Survivor(Beam((Segment(option, shown, totals[option]),), totals[option], done=True), voters)


def _survivors(
    beams: Sequence[Beam], fresh: Sequence[Candidate], allowed: Sequence[ScoredCandidate], params: SelfRagParams
) -> tuple[Survivor, ...]:
    if params.options:
        return (vote(allowed),)
    pool = [Survivor(beam) for beam in beams if beam.done]
    pool += [Survivor(replace(beam, done=True)) for beam in _silenced(beams, fresh)]
    pool += [
        Survivor(extend(beams[each.candidate.branch.beam_place], each, params), (each.candidate,)) for each in allowed
    ]
    return tuple(sorted(pool, key=lambda survivor: -survivor.beam.score))


def _silenced(beams: Sequence[Beam], fresh: Sequence[Candidate]) -> list[Beam]:
    """The texts that some branch had nothing to add to, each once."""
    silent = dict.fromkeys(each.branch.beam_place for each in fresh if not each.draft.text)
    return [beams[place] for place in silent if beams[place].segments]


def _unsupported(draft: Draft) -> bool:
    return draft.critique.support is not None and draft.critique.support.label == "none"


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


def _fate(scored: ScoredCandidate | None, kept: Sequence[Candidate]) -> str:
    if scored is None:
        return "empty"
    if any(scored.candidate is candidate for candidate in kept):
        return "kept"
    return "dropped" if scored.dropped else "passed over"


def _tier(fresh: Sequence[Candidate]) -> Tier | None:
    return min((tier for each in fresh if (tier := each.draft.critique.tier)), default=None)
