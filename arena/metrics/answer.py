"""Short answers against gold answers.

`answers`: the main answer and its aliases; a score is the best over them, None when there are none. All scores are in
[0, 1]. Two texts in Latin letters are compared as MuSiQue's official evaluation compares them (Trivedi et al., TACL
2022, section 7, after SQuAD, Rajpurkar et al. 2016; HotpotQA's and 2WikiMultihopQA's normalise alike); two of which one
holds another script, by a normalisation that knows it. `official`: by MuSiQue's whatever they hold, as the datasets
ask for that have an official evaluation.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from arena.text import is_latin, lexical_form, spaced

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=16_384)  # the same gold meets every cell, and the same prediction every metric
def musique_normalised(text: str) -> str:
    """Lower-case, delete ASCII punctuation, drop the words a, an, the, collapse white space; in this order.

    Punctuation is deleted, not replaced: "U.S." becomes "us", "well-known" becomes "wellknown". Normalising
    twice changes nothing.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@lru_cache(maxsize=16_384)
def any_script_normalised(text: str) -> str:
    """As `musique_normalised`, for every script: in lexical form, case-folded, without any of Unicode's punctuation.

    The characters of scripts that leave no space between words are tokens by themselves, as in MLQA's evaluation (Lewis
    et al., ACL 2020); so spaces between them say nothing. Normalising twice changes nothing.
    """
    plain = lexical_form(text).casefold().translate(_PUNCTUATION)
    bare = "".join(one for one in plain if unicodedata.category(one)[0] != "P")
    return " ".join(_ARTICLES.sub(" ", spaced(bare, pairs=False)).split())


def exact_match(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """1.0 if the normalised prediction equals a normalised answer, else 0.0."""
    return _best(lambda predicted, gold: float(predicted == gold), prediction, answers, official)


def token_f1(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """2c / (p + g): p and g tokens of prediction and answer, c of them in common, repeats counted.

    If either side has no tokens, 1.0 when both have none, else 0.0.
    """
    return _best(_pair_f1, prediction, answers, official)


def contains(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """1.0 if the tokens of an answer stand in the prediction, adjacent and in order, else 0.0.

    Whole tokens: "us" is not in "bus". An answer without tokens stands only in a prediction without tokens.
    Generous to long predictions; read it beside exact match, never instead.
    """
    return _best(_pair_contains, prediction, answers, official)


def _best(
    compare: Callable[[str, str], float], prediction: str, answers: Sequence[str], official: bool
) -> float | None:
    latin = is_latin(prediction)
    scores = []
    for answer in answers:
        if official:
            scores.append(compare(musique_normalised(prediction), musique_normalised(answer)))
        elif latin and is_latin(answer):
            scores.append(compare(musique_normalised(_composed(prediction)), musique_normalised(_composed(answer))))
        else:
            scores.append(compare(any_script_normalised(prediction), any_script_normalised(answer)))
    return max(scores, default=None)


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _pair_f1(predicted: str, gold: str) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    left, right = predicted.split(), gold.split()
    common = (Counter(left) & Counter(right)).total()
    return 2 * common / (len(left) + len(right))


def _pair_contains(predicted: str, gold: str) -> float:
    return float(f" {gold} " in f" {predicted} ") if gold else float(not predicted)
