"""Which candidates live on: scores, hard constraints, votes, and the beams that are left. Pure.

An abstention is a candidate like any other. The paper knows none, so it has no rank of its own: its support and
utility decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arena.text import ABSTENTION
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.scores import RELEVANCE, SUPPORT, UTILITY, critique_score, expected, sequence_probability
from strategies.self_rag.state import Beam, Candidate, Draft, Reading, Segment


@dataclass(frozen=True, slots=True)
class Scored:
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
    scored: tuple[Scored, ...]
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
    critique = draft.critique
    score = critique_score(
        _expected(critique.relevance, RELEVANCE),
        _expected(critique.support, SUPPORT),
        _expected(critique.utility, UTILITY),
        params.weights,
    )
    if with_sequence and draft.mean_logprob is not None:
        return score + sequence_probability(draft.mean_logprob)
    return score


def score_parts(draft: Draft) -> dict[str, float]:
    """What f is made of, by the paper's names; a part that was not judged is left out and counts 0."""
    critique = draft.critique
    readings = {
        "s_rel": (critique.relevance, RELEVANCE),
        "s_sup": (critique.support, SUPPORT),
        "s_use": (critique.utility, UTILITY),
    }
    parts = {name: _expected(reading, values) for name, (reading, values) in readings.items() if reading is not None}
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
        Scored(each, segment_score(each.draft, params, with_sequence=with_sequence), hard and _unsupported(each.draft))
        for each in speaking
    )
    allowed = [each for each in scored if not each.dropped]
    rescued = bool(scored) and not allowed
    if rescued:
        allowed = [max(scored, key=lambda each: each.score)]
    survivors = _survivors(beams, fresh, allowed, params)[:width]
    unbound = survivors if rescued or len(allowed) == len(scored) else _survivors(beams, fresh, scored, params)
    return Selection(survivors, scored, with_sequence, rescued, unbound[0].beam.text != survivors[0].beam.text)


def extend(beam: Beam, scored: Scored, params: SelfRagParams) -> Beam:
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


def vote(candidates: Sequence[Scored]) -> Survivor:
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
    beams: Sequence[Beam], fresh: Sequence[Candidate], allowed: Sequence[Scored], params: SelfRagParams
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


def _expected(reading: Reading | None, values: Mapping[str, float]) -> float:
    return 0.0 if reading is None else expected(reading.probabilities, values)
