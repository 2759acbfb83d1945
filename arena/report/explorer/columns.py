"""Columns of numbers and words as short JSON text that compresses well.

A column of integers is written as planes: strings with one digit of every number, to the base 64, the lowest digits
first. Random digits cost gzip hardly more than their entropy this way, a quarter less than numbers with commas.
`codec.js` reads what is written here.

What a chunk of questions holds, as tables of columns. `chunk.js` reads them by these names.

Rows of a table that belong to a row of another stand in its order, and it says how many there are: `n_hits` of a
retrieval, `n_decisions` of a record. A `word` is a number in the chunk's vocabulary. Documents are numbered per
question, in `questions.documents`.

The island: gzip members as text, one a line, so that the page can open one without the others.

Line 0 is the table of contents, which names the others by their numbers. Each member is JSON. Its bytes are written to
the base 85, which takes a sixteenth less than base64; no letter of it means anything in HTML. `codec.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntegerArray = NDArray[np.int64]

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""The digits of a plane, from 0 to 63."""

BASE = len(DIGITS)

FIGURE_DIGITS = 3
"""Digits of a figure that are kept, as in `arena.report.question.figure_text`."""

_NEARLY_HALF = 1e-6
_TINY = 1e-290  # powers of ten below are no normal floats

Planes = list[str]
Cut = str | tuple[str, int]
"""A text; or its beginning, and how many characters of it were left out."""


def planes(numbers: Iterable[int | None]) -> Planes:
    """Integers from 0 up, None among them, as planes: 0 stands for None, n + 1 for n. Of no numbers: no planes."""
    import numpy as np

    return _planes_of(np.asarray([0 if number is None else number + 1 for number in numbers], dtype=np.int64))


def _planes_of(left: IntegerArray) -> Planes:
    """Integers from 0 up as planes."""
    import numpy as np

    if left.size and left.min() < 0:
        raise ValueError(f"no column of integers from 0 up: it holds {left.min() - 1}")
    digits = np.frombuffer(DIGITS.encode("ascii"), dtype=np.uint8)
    strings: Planes = []
    while left.size and (left.any() or not strings):
        strings.append(digits[left % BASE].tobytes().decode("ascii"))
        left = left // BASE
    return strings


class Integers(list[int | None]):
    """A column of integers from 0 up; None = unknown or not there."""

    def written(self) -> Planes:
        """As JSON holds it."""
        return planes(self)


class Steps(Integers):
    """A column of integers from 0 up in which one mostly follows the other; None is not among them."""

    def written(self) -> Planes:
        """What each adds to the one before it plus one, in zigzag; before the first stands -1."""
        import numpy as np

        numbers = np.asarray(self, dtype=np.int64)
        return _planes_of(_zigzag(np.diff(numbers, prepend=-1) - 1) + 1)


class Figures(list[float | None]):
    """A column of real numbers, kept to three digits that count; None, also of what is not finite."""

    def written(self) -> dict[str, Planes]:
        """Whole numbers of three digits (`m`, zigzag) and powers of ten (`e`, zigzag): `m * 10 ** e`."""
        wholes, powers = _rounded(self)
        return {"m": _planes_of(wholes), "e": _planes_of(powers)}


class Vocabulary:
    """The distinct texts of a chunk, in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int | None:
        """The number of a text, from 0; None of None."""
        return None if text is None else self._numbers.setdefault(text, len(self._numbers))

    def written(self, chars: int | None = None) -> list[Cut]:
        """The texts, each cut to `chars` characters (None: whole)."""
        return cut_all(self._numbers, chars)


def cut_all(texts: Iterable[str], chars: int | None) -> list[Cut]:
    """Each text, or its first `chars` characters with the number of those left out; None: whole."""
    if chars is None:
        return list(texts)
    return [text if len(text) <= chars else (text[:chars], len(text) - chars) for text in texts]


def n_cut(texts: Sequence[Cut | None]) -> int:
    """How many of them were shortened."""
    return sum(isinstance(text, tuple) for text in texts)


def _rounded(figures: Sequence[float | None]) -> tuple[IntegerArray, IntegerArray]:
    """Per figure its three digits and its power of ten, each in zigzag and plus 1; 0 and 0 of what is not finite."""
    import numpy as np

    values = np.asarray([math.nan if figure is None else figure for figure in figures], dtype=np.float64)
    known = np.isfinite(values)
    usual = known & (np.abs(values) > _TINY)
    powers = np.floor(np.log10(np.abs(np.where(usual, values, 1.0)))).astype(np.int64) - (FIGURE_DIGITS - 1)
    scaled = np.where(usual, values, 0.0) / np.power(10.0, powers)
    wholes = np.rint(scaled).astype(np.int64)
    near = np.abs(np.abs(scaled - wholes) - 0.5) < _NEARLY_HALF
    beside = (np.abs(wholes) >= 10**FIGURE_DIGITS) | (np.abs(wholes) < 10 ** (FIGURE_DIGITS - 1))
    for place in np.flatnonzero(known & (values != 0) & (near | beside)):  # a zero of `scaled` is beside, too
        wholes[place], powers[place] = _parts(float(values[place]))
    powers[values == 0] = 0
    return np.where(known, _zigzag(wholes) + 1, 0), np.where(known, _zigzag(powers) + 1, 0)


def _parts(figure: float) -> tuple[int, int]:
    """What text formatting makes of it, which rounds a half as the figure's own digits say."""
    mantissa, _, exponent = f"{figure:.{FIGURE_DIGITS - 1}e}".partition("e")
    return int(mantissa.replace(".", "")), int(exponent) - (FIGURE_DIGITS - 1)


def _zigzag(numbers: IntegerArray) -> IntegerArray:
    return numbers * 2 ^ (numbers >> 63)


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


LEVEL = 8  # 9 takes twice as long for a thousandth
_SAFE = bytes.maketrans(b"&<>", b",./")


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
    whole, rest = divmod(member_bytes, 4)
    return 5 * whole + (rest + 1 if rest else 0) + 1


def as_line(content: bytes) -> str:
    """Bytes as text: four of them in five letters, those of `base64.b85encode` but `&<>`, which are `,./`."""
    return base64.b85encode(content).translate(_SAFE).decode("ascii")


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
        return "\n".join(map(as_line, (member(contents), *self._members)))
