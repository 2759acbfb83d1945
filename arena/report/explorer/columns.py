"""What a chunk of questions holds, as tables of columns, and how the page carries them.

`chunk.js` reads the tables by these names. Rows of a table that belong to a row of another stand in its order, and it
says how many there are: `n_hits` of a retrieval, `n_decisions` of a record. A `word` is a number in the chunk's
vocabulary. Documents are numbered per question, in `questions.documents`.

The island: JSON, as base64 of gzip, a member a line, so that the page can open one without the others. Line 0 is the
table of contents, which names the others by their numbers.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any

from arena.report.question import figure_text

Cut = str | tuple[str, int]
"""A text; or its beginning, and how many characters of it were left out."""


class Integers(list[int | None]):
    """A column of integers from 0 up; None = unknown or not there."""

    def written(self) -> list[int]:
        """As JSON holds it: -1 stands for None."""
        return [-1 if number is None else number for number in self]


class Figures(list[float | None]):
    """A column of real numbers; None, also of what is not finite."""

    def written(self) -> list[str | None]:
        """As JSON holds it: the text that the page shows, of 0 without a sign."""
        return [None if figure is None or not math.isfinite(figure) else figure_text(figure or 0.0) for figure in self]


class Vocabulary:
    """The distinct texts of a chunk, in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int | None:
        """The number of a text, from 0; None of None."""
        return None if text is None else self._numbers.setdefault(text, len(self._numbers))

    def written(self, chars: int | None = None) -> list[Cut]:
        """The texts, each cut to `chars` characters (None: whole)."""
        return [cut(text, chars) for text in self._numbers]


def cut(text: str, chars: int | None) -> Cut:
    """A text, or its first `chars` characters with the number of those left out; None: whole."""
    return text if chars is None or len(text) <= chars else (text[:chars], len(text) - chars)


def n_cut(texts: Sequence[Cut | None]) -> int:
    """How many of them were shortened."""
    return sum(isinstance(text, tuple) for text in texts)


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

    document: Integers = field(default_factory=Integers)
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


LEVEL = 8  # 9 takes twice as long for a thousandth


def member(content: Any) -> bytes:
    """A member; the same content gives the same bytes."""
    return _compressed(_json(content))


def members(contents: Iterable[Any]) -> list[bytes]:
    """A member of each content, in their order; while one is compressed, the next is made."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [done.result() for done in [pool.submit(_compressed, _json(content)) for content in contents]]


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _compressed(text: bytes) -> bytes:
    return gzip.compress(text, LEVEL, mtime=0)


def island_chars(member_bytes: int) -> int:
    """Characters of a member of so many bytes in the island, its line end included."""
    return 4 * math.ceil(member_bytes / 3) + 1


class Lines:
    """Members by their line numbers; line 0 is kept free for the table of contents."""

    def __init__(self) -> None:
        self._members: list[bytes] = []

    def add(self, content: bytes) -> int:
        """The line number of a member."""
        self._members.append(content)
        return len(self._members)

    def island(self, contents: Any) -> str:
        """All of it, with `contents` as its first line."""
        return "\n".join(base64.b64encode(one).decode() for one in (member(contents), *self._members))
