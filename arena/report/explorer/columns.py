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
from typing import Any

from arena.report.question import figure_text

Cut = str | tuple[str, int]
"""A text; or its beginning, and how many characters of it were left out."""


def integers(column: Iterable[int | None]) -> list[int]:
    """Integers from 0 up as JSON holds them: -1 stands for None, which is unknown or not there."""
    return [-1 if number is None else number for number in column]


def figures(column: Iterable[float | None]) -> list[str | None]:
    """Real numbers as JSON holds them: the text that the page shows, 0 without a sign; None of what is not finite."""
    return [None if figure is None or not math.isfinite(figure) else figure_text(figure or 0.0) for figure in column]


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


_REAL = frozenset({"score", "threshold", "value", "low", "high", "usd"})


class Table:
    """Columns by name: real numbers in those of `_REAL` and in seconds, else integers; None = unknown or not there."""

    def __init__(self, columns: str) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in columns.split()}

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def add(self, **row: float | None) -> None:
        """One more row."""
        for name, value in row.items():
            self._columns[name].append(value)

    def extend(self, **columns: Iterable[float | None]) -> None:
        """More rows, column by column."""
        for name, values in columns.items():
            self._columns[name].extend(values)

    def written(self) -> dict[str, Any]:
        """Column name -> what JSON holds of it."""
        return {
            name: figures(column) if name in _REAL or name.endswith("_seconds") else integers(column)
            for name, column in self._columns.items()
        }


RETRIEVALS = "question query request n_hits n_dropped n_beyond n_gold_beyond"
"""Distinct retrievals of a question, shared by the cells that asked the same and got the same.

`query` is a word (None: the question's own text), `request` another. `n_dropped` hits follow the `n_hits` that were
handed on. `n_beyond`: candidates that k had no room for; `n_gold_beyond` of them carry evidence.
"""

HITS = "document passage start end rank score"
"""Passages found. `passage` is a word (None: its id is the document's); `start`, `end`: None = all of it."""

LANE = "rank score"
"""One lane, a rank for every hit (None: it is not in the lane) and a score for every hit that is in it."""

BEYOND = "document place"
"""Evidence among the candidates beyond k. `place` counts from 1."""

RECORDS = (
    "question cell outcome finding hop missing stage type message flags latency_seconds wall_seconds retrieval_seconds "
    "usd n_retrievals n_used n_cited n_decisions n_roles"
)
"""What a cell made of a question.

`outcome`: its place in `OUTCOMES`. `finding`, `stage`, `type`, `message` are words, the last three of a technical
failure. `flags`: the sum of those of `FLAGS` that hold, 1, 2, 4, ... in their order.
"""

OUTCOMES = ("answered", "abstained", "failed")
FLAGS = ("measured", "warm_up", "replayed", "truncated")

DECISIONS = "node choice score threshold origin tier changed subject document n_parts"
"""Branches taken, in order. `node`, `choice`, `origin`, `tier`, `changed`, `subject` are words.

`document`: what it was about, where that is a document of the question.
"""

PARTS = "name value reason"
"""What the score of a decision, or a verdict, was made of. `name` and `reason` are words."""

ROLES = (
    "role models calls retries input_tokens output_tokens service_seconds waiting_seconds usd repairs failed truncated "
    "replayed"
)
"""Model calls by role. `role` and `models` are words."""

VERDICTS = "question cell metric judge repeat value reason n_parts"
"""What judges said of the chunk's records. `metric`, `judge` and `reason` are words; `repeat` counts from 0."""

SCORES = "value reason low high"
"""The distinct scores of a chunk; 0 in a record's `codes` is no score, n the n-th of these. `reason` is a word."""


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


def island_chars(*members: bytes) -> int:
    """Characters of members in the island, their line ends included."""
    return sum(4 * math.ceil(len(one) / 3) + 1 for one in members)


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
