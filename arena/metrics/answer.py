"""Short answers against gold answers, as MuSiQue's official evaluation compares them.

`answers`: the main answer and its aliases; a score is the best over them, None when there are none. All
scores are in [0, 1]. Source: Trivedi et al., TACL 2022, section 7, after SQuAD (Rajpurkar et al. 2016).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=16_384)  # the same gold meets every cell, and the same prediction every metric
def normalise(text: str) -> str:
    """Lower-case, delete ASCII punctuation, drop the words a, an, the, collapse white space; in this order.

    Punctuation is deleted, not replaced: "U.S." becomes "us", "well-known" becomes "wellknown". Normalising
    twice changes nothing.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float | None:
    """1.0 if the normalised prediction equals a normalised answer, else 0.0."""
    return _best(lambda predicted, gold: float(predicted == gold), prediction, answers)


def token_f1(prediction: str, answers: Sequence[str]) -> float | None:
    """2c / (p + g): p and g tokens of prediction and answer, c of them in common, repeats counted.

    If either side has no tokens, 1.0 when both have none, else 0.0.
    """
    return _best(_pair_f1, prediction, answers)


def contains(prediction: str, answers: Sequence[str]) -> float | None:
    """1.0 if the tokens of an answer stand in the prediction, adjacent and in order, else 0.0.

    Whole tokens: "us" is not in "bus". An answer without tokens stands only in a prediction without tokens.
    Generous to long predictions; read it beside exact match, never instead.
    """
    return _best(_pair_contains, prediction, answers)


def _best(compare: Callable[[str, str], float], prediction: str, answers: Sequence[str]) -> float | None:
    predicted = normalise(prediction)
    return max((compare(predicted, normalise(answer)) for answer in answers), default=None)


def _pair_f1(predicted: str, gold: str) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    left, right = predicted.split(), gold.split()
    common = (Counter(left) & Counter(right)).total()
    return 2 * common / (len(left) + len(right))


def _pair_contains(predicted: str, gold: str) -> float:
    return float(f" {gold} " in f" {predicted} ") if gold else float(not predicted)
