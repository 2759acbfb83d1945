"""The arithmetic of Self-RAG (paper section 3.3 and appendix A.3). Pure.

All three critiques are one formula: the expected value of a label, over the labels of its group alone. A hard label
is a distribution with all weight on it, so labels without probabilities need no formula of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

RELEVANCE = {"yes": 1.0, "no": 0.0}
SUPPORT = {"fully": 1.0, "partially": 0.5, "none": 0.0}
UTILITY = {"1": -1.0, "2": -0.5, "3": 0.0, "4": 0.5, "5": 1.0}


@dataclass(frozen=True, slots=True)
class Weights:
    """What each critique counts for."""

    relevance: float = 1.0
    support: float = 1.0
    utility: float = 0.5


def expected(probabilities: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Sum of value x probability over the labels of `values`, renormalised over them.

    0 when none of them has any probability: a critique that could not be read adds nothing, as in the released code
    for a reflection token that never appears.
    """
    total = sum(probabilities.get(label, 0.0) for label in values)
    if total <= 0.0:
        return 0.0
    return sum(value * (probabilities.get(label, 0.0) / total) for label, value in values.items())


def critique_score(relevance: float, support: float, utility: float, weights: Weights) -> float:
    """S, in [-w_use, w_rel + w_sup + w_use]."""
    return weights.relevance * relevance + weights.support * support + weights.utility * utility


def sequence_probability(mean_logprob: float) -> float:
    """p(segment | ...), normalised for length: in (0, 1]."""
    return math.exp(min(mean_logprob, 0.0))


def retrieval_share(probabilities: Mapping[str, float]) -> float | None:
    """P(yes) / (P(yes) + P(no)): of probabilities, never of their logarithms. None when neither has any."""
    yes, no = probabilities.get("yes", 0.0), probabilities.get("no", 0.0)
    return yes / (yes + no) if yes + no > 0.0 else None
