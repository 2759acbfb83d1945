"""ROUGE-L, for references in prose. Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", ACL 2004.

Of two texts in Latin letters the tokens are those of the `rouge-score` library without a stemmer: runs of ASCII letters
and digits, in lower case. That library drops all other letters; of two texts of which one holds another script, the
tokens are those by which answers are compared (`arena.metrics.answer.any_script_normalised`). Only the
length of the longest common subsequence is worked out here, because the library's table takes milliseconds a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from arena.metrics.answer import any_script_normalised
from arena.text import is_latin


def rouge_l(prediction: str, references: Sequence[str], *, official: bool = False) -> float | None:
    """Best F1 over the references, in [0, 1]: 2 L / (p + r) of their tokens, L in common and in the same order.

    0.0 where either side has no tokens; None without references. `official`: by the library's tokens always.
    """
    return max((_f1(prediction, reference, official) for reference in references), default=None)


def _f1(prediction: str, reference: str, official: bool) -> float:
    library = official or (is_latin(prediction) and is_latin(reference))
    predicted, wanted = _tokens(prediction, library), _tokens(reference, library)
    if not predicted or not wanted:
        return 0.0
    return 2 * _common_length(predicted, _places(reference, library), len(wanted)) / (len(predicted) + len(wanted))


def _common_length(tokens: Sequence[str], places: dict[str, int], length: int) -> int:
    """Length of the longest common subsequence, a column of the table at a time in the bits of one integer.

    Allison and Dix, "A Bit-String Longest-Common-Subsequence Algorithm", 1986, in the form of Hyyro, 2004: a bit of
    `row` is 0 where the table grows by one.
    """
    whole = (1 << length) - 1
    row = whole
    for token in tokens:
        matched = row & places.get(token, 0)
        row = ((row + matched) | (row - matched)) & whole
    return length - row.bit_count()


@lru_cache(maxsize=4_096)  # the same references meet every cell
def _places(reference: str, library: bool) -> dict[str, int]:
    """Token -> the places where it stands, as bits."""
    places: dict[str, int] = {}
    for place, token in enumerate(_tokens(reference, library)):
        places[token] = places.get(token, 0) | 1 << place
    return places


@lru_cache(maxsize=4_096)
def _tokens(text: str, library: bool) -> tuple[str, ...]:
    if not library:
        return tuple(any_script_normalised(text).split())
    from rouge_score.tokenize import tokenize  # its class of the same rule loads the whole of nltk, three seconds

    return tuple(tokenize(text, None))
