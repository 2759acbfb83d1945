"""What flows through Self-RAG's graph."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from arena.errors import AllowanceSpent, ModelCallError
from arena.types import Answer, AnswerStyle, Decision, Passage, Tier

Action = Literal["yes", "no", "continue"]


@dataclass(frozen=True, slots=True)
class Reflection:
    """One reflection token as it was read.

    `label`: the one chosen or emitted (None: none was). `probabilities`: label -> [0, 1]; a label without
    probabilities has all of it; empty = nothing could be read. `tier`: None where a token never appeared.
    """

    label: str | None
    probabilities: Mapping[str, float]
    tier: Tier | None


@dataclass(frozen=True, slots=True)
class Critique:
    """The verdicts on one candidate; None = not asked for, as relevance and support without a passage."""

    relevance: Reflection | None = None
    support: Reflection | None = None
    utility: Reflection | None = None

    @property
    def tier(self) -> Tier | None:
        """The lowest of its verdicts: what the whole can claim."""
        verdicts = (self.relevance, self.support, self.utility)
        return min((each.tier for each in verdicts if each and each.tier), default=None)


@dataclass(frozen=True, slots=True)
class Draft:
    """A segment as it was written and judged.

    `text` is empty when the model wrote nothing (new); `fault` says why, where that is an error. `mean_logprob`:
    natural log, of the segment's tokens (None: not given). `done`: the text is complete with it. `raw`: what the
    trained model wrote, reflection tokens included, and `upcoming` the Retrieve token with which it went on.
    """

    text: str
    critique: Critique = Critique()
    mean_logprob: float | None = None
    done: bool = True
    abstained: bool = False
    raw: str = ""
    upcoming: Reflection | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A kept segment: its text, the passages that were shown to the calls that wrote it, and its score f."""

    text: str
    passages: tuple[Passage, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Beam:
    """A text in the making. `raw` and `upcoming`: see `Draft`; `raw` is of the whole text, passages included."""

    segments: tuple[Segment, ...] = ()
    score: float = 0.0
    done: bool = False
    abstained: bool = False
    raw: str = ""
    upcoming: Reflection | None = None

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def evidence(self) -> Passage | None:
        """The passage that the last segment was written from."""
        shown = self.segments[-1].passages if self.segments else ()
        return shown[0] if shown else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the beam at `beam_place` does next. `query` is what it would ask the index."""

    beam_place: int
    action: Action
    query: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class Branch:
    """One candidate to be made: a beam, and the passage it goes on with (None: without any).

    `beam_place`: the beam's among the others of its level. `relevance`: what was already judged of that passage.
    """

    level: int
    beam_place: int
    beam: Beam
    passage: Passage | None = None
    action: Action = "yes"
    relevance: Reflection | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A branch and the draft it came to, or the error that kept it from one."""

    branch: Branch
    draft: Draft
    error: ModelCallError | AllowanceSpent | None = None


class BranchState(TypedDict):
    """What a fanned-out branch is sent."""

    question: str
    style: AnswerStyle
    branch: Branch


def one_more(before: tuple[tuple[Passage, ...], ...], passages: tuple[Passage, ...]) -> tuple[tuple[Passage, ...], ...]:
    """Keep each retrieval's passages apart: the retrieve node hands in one retrieval at a time."""
    return (*before, passages)


class SelfRagState(TypedDict, total=False):
    """State of one question; `question` and `style` are given and never written.

    beams: the texts in the making, best first.
    depth: segments begun so far.
    plans: what each live beam does at this depth.
    passages: those of every retrieval so far, in the order of their requests.
    branches: the candidates to be made at this depth.
    candidates: all made so far, of every depth.
    spent: the question may ask no more; the best text so far is its answer.
    """

    question: str
    style: AnswerStyle
    beams: tuple[Beam, ...]
    depth: int
    plans: tuple[Plan, ...]
    passages: Annotated[tuple[tuple[Passage, ...], ...], one_more]
    retrieved_ids: Annotated[tuple[str, ...], operator.add]
    branches: tuple[Branch, ...]
    candidates: Annotated[tuple[Candidate, ...], operator.add]
    decisions: Annotated[tuple[Decision, ...], operator.add]
    spent: bool
    answer: Answer
