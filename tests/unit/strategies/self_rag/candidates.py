"""Candidates made by hand."""

from __future__ import annotations

from strategies.self_rag.selection import ScoredCandidate
from strategies.self_rag.state import Beam, Branch, Candidate, Critique, Draft, Reflection
from tests.unit.strategies.self_rag.shelf import PASSAGES


def hard(label: str) -> Reflection:
    return Reflection(label, {label: 1.0}, "T0")


def candidate(
    text: str,
    passage: str | None = "d1",
    *,
    verdicts: tuple[str, str, str] = ("yes", "fully", "5"),
    logprob: float | None = None,
    beam: int = 0,
    of: Beam | None = None,
    done: bool = True,
) -> Candidate:
    """`verdicts`: relevance, support, utility; without a passage only the last counts."""
    relevance, support, utility = (hard(label) for label in verdicts)
    critique = Critique(relevance, support, utility) if passage else Critique(utility=utility)
    branch = Branch(1, beam, of or Beam(), PASSAGES[passage] if passage else None)
    return Candidate(branch, Draft(text, critique, logprob, done=done))


def scored(text: str, score: float, passage: str | None = "d1") -> ScoredCandidate:
    return ScoredCandidate(candidate(text, passage), score)
