"""What a chunk of questions holds, as tables of columns. `chunk.js` reads them by these names.

Rows of a table that belong to a row of another stand in its order, and it says how many there are: `n_hits` of a
retrieval, `n_decisions` of a record. A `word` is a number in the chunk's vocabulary. Documents are numbered per
question, in `questions.documents`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from arena.report.page.explorer.columns import Figures, Integers, Steps


class Table:
    """A dataclass of columns."""

    def written(self) -> dict[str, Any]:
        """Column name -> what JSON holds of it."""
        return {one.name: getattr(self, one.name).written() for one in fields(self)}  # type: ignore[arg-type]


@dataclass(slots=True)
class Retrievals(Table):
    """Distinct retrievals of a question, shared by the cells that asked the same and got the same.

    `query` is a word (None: the question's own text), `request` another. `n_dropped` hits follow the `n_hits` that
    were handed on. `n_beyond`: candidates that k had no room for; `n_gold_beyond` of them carry evidence.
    """

    question: Integers = field(default_factory=Integers)
    query: Integers = field(default_factory=Integers)
    request: Integers = field(default_factory=Integers)
    n_hits: Integers = field(default_factory=Integers)
    n_dropped: Integers = field(default_factory=Integers)
    n_beyond: Integers = field(default_factory=Integers)
    n_gold_beyond: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Hits(Table):
    """Passages found. `passage` is a word (None: its id is the document's); `start`, `end`: None = all of it."""

    document: Steps = field(default_factory=Steps)
    passage: Integers = field(default_factory=Integers)
    start: Integers = field(default_factory=Integers)
    end: Integers = field(default_factory=Integers)
    rank: Integers = field(default_factory=Integers)
    score: Figures = field(default_factory=Figures)


@dataclass(slots=True)
class Lane(Table):
    """One lane, a rank for every hit (None: it is not in the lane) and a score for every hit that is in it."""

    rank: Integers = field(default_factory=Integers)
    score: Figures = field(default_factory=Figures)


@dataclass(slots=True)
class Beyond(Table):
    """Evidence among the candidates beyond k. `place` counts from 1."""

    document: Integers = field(default_factory=Integers)
    place: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Records(Table):
    """What a cell made of a question.

    `outcome`: its place in `OUTCOMES`. `finding`, `stage`, `type`, `message` are words, the last three of a technical
    failure. `flags`: the sum of those of `FLAGS` that hold, 1, 2, 4, ... in their order.
    """

    question: Integers = field(default_factory=Integers)
    cell: Integers = field(default_factory=Integers)
    outcome: Integers = field(default_factory=Integers)
    finding: Integers = field(default_factory=Integers)
    hop: Integers = field(default_factory=Integers)
    missing: Integers = field(default_factory=Integers)
    stage: Integers = field(default_factory=Integers)
    type: Integers = field(default_factory=Integers)
    message: Integers = field(default_factory=Integers)
    flags: Integers = field(default_factory=Integers)
    latency_seconds: Figures = field(default_factory=Figures)
    wall_seconds: Figures = field(default_factory=Figures)
    retrieval_seconds: Figures = field(default_factory=Figures)
    usd: Figures = field(default_factory=Figures)
    n_retrievals: Integers = field(default_factory=Integers)
    n_used: Integers = field(default_factory=Integers)
    n_cited: Integers = field(default_factory=Integers)
    n_decisions: Integers = field(default_factory=Integers)
    n_roles: Integers = field(default_factory=Integers)


OUTCOMES = ("answered", "abstained", "failed")
FLAGS = ("measured", "warm_up", "replayed", "truncated")


@dataclass(slots=True)
class Decisions(Table):
    """Branches taken, in order. `node`, `choice`, `origin`, `tier`, `changed`, `subject` are words.

    `document`: what it was about, where that is a document of the question.
    """

    node: Integers = field(default_factory=Integers)
    choice: Integers = field(default_factory=Integers)
    score: Figures = field(default_factory=Figures)
    threshold: Figures = field(default_factory=Figures)
    origin: Integers = field(default_factory=Integers)
    tier: Integers = field(default_factory=Integers)
    changed: Integers = field(default_factory=Integers)
    subject: Integers = field(default_factory=Integers)
    document: Integers = field(default_factory=Integers)
    n_parts: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Parts(Table):
    """What the score of a decision, or a verdict, was made of. `name` and `reason` are words."""

    name: Integers = field(default_factory=Integers)
    value: Figures = field(default_factory=Figures)
    reason: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Roles(Table):
    """Model calls by role. `role` and `models` are words."""

    role: Integers = field(default_factory=Integers)
    models: Integers = field(default_factory=Integers)
    calls: Integers = field(default_factory=Integers)
    retries: Integers = field(default_factory=Integers)
    input_tokens: Integers = field(default_factory=Integers)
    output_tokens: Integers = field(default_factory=Integers)
    service_seconds: Figures = field(default_factory=Figures)
    waiting_seconds: Figures = field(default_factory=Figures)
    usd: Figures = field(default_factory=Figures)
    repairs: Integers = field(default_factory=Integers)
    failed: Integers = field(default_factory=Integers)
    truncated: Integers = field(default_factory=Integers)
    replayed: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Verdicts(Table):
    """What judges said of the chunk's records. `metric`, `judge` and `reason` are words; `repeat` counts from 0."""

    question: Integers = field(default_factory=Integers)
    cell: Integers = field(default_factory=Integers)
    metric: Integers = field(default_factory=Integers)
    judge: Integers = field(default_factory=Integers)
    repeat: Integers = field(default_factory=Integers)
    value: Figures = field(default_factory=Figures)
    reason: Integers = field(default_factory=Integers)
    n_parts: Integers = field(default_factory=Integers)


@dataclass(slots=True)
class Scores(Table):
    """The distinct scores of a chunk; 0 in a record's `codes` is no score, n the n-th of these. `reason` is a word."""

    value: Figures = field(default_factory=Figures)
    reason: Integers = field(default_factory=Integers)
    low: Figures = field(default_factory=Figures)
    high: Figures = field(default_factory=Figures)
