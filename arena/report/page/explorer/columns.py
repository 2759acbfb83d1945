"""Columns of numbers and words as short JSON text that compresses well.

A column of integers is written as planes: strings with one digit of every number, to the base 64, the lowest digits
first. Random digits cost gzip hardly more than their entropy this way, a quarter less than numbers with commas.
`codec.js` reads what is written here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntegerArray = NDArray[np.int64]

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""The digits of a plane, from 0 to 63."""

BASE = len(DIGITS)

FIGURE_DIGITS = 3
"""Digits of a figure that are kept, as in `arena.report.question.wording.figure_text`."""

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
