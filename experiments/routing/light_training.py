"""Fitting the light router: multinomial logistic regression on the questions' embeddings, in seconds on a CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arena.protocols import Embedder, Vectors
from experiments.routing.examples import Example
from experiments.routing.trainer import Shares
from indexing.routing import LightWeights, RouterKind, query_identity
from indexing.routing.routers import log_lengths, question_features
from strategies.adaptive import LABELS

PENALTY = 1.0
"""scikit-learn's C, at its default: 1 over the weight of the squared coefficients."""

_ITERATIONS = 2000
_NO_SPREAD = 1e-9


@dataclass
class QuestionVectors:
    """Each question embedded once, as a query is."""

    embedder: Embedder
    _known: dict[str, Vectors] = field(default_factory=dict)

    def of(self, texts: Sequence[str]) -> Vectors:
        """(n, d) float32, rows L2 = 1."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self.embedder.embed_queries(new).dense, strict=True))
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True, slots=True)
class LightTrained:
    """A `Trained` regression."""

    weights: LightWeights
    vectors: QuestionVectors
    facts: Mapping[str, Any]

    def probabilities(self, texts: Sequence[str]) -> Shares:
        return self.weights.probabilities(self.vectors.of(texts), texts)

    def save(self, folder: Path) -> None:
        self.weights.save(folder)


class LightTrainer:
    """A `Trainer` of scikit-learn's `LogisticRegression`, whose solution is unique: there is nothing to seed."""

    def __init__(self, embedder: Embedder) -> None:
        self._vectors = QuestionVectors(embedder)

    @property
    def kind(self) -> RouterKind:
        return "light"

    @property
    def embedder(self) -> Mapping[str, str | int]:
        return query_identity(self._vectors.embedder.identity)

    def fit(self, examples: Sequence[Example]) -> LightTrained:
        """A label that no example has gets probability 0."""
        texts = [one.text for one in examples]
        lengths = log_lengths(texts)
        length = np.array([lengths.mean(), max(float(lengths.std()), _NO_SPREAD)])
        features = question_features(self._vectors.of(texts), texts, float(length[0]), float(length[1]))
        coefficients, intercepts = _solve(features, [LABELS.index(one.label) for one in examples], examples)
        facts = {"C": PENALTY, "solver": "lbfgs", "features": features.shape[1]}
        return LightTrained(LightWeights(coefficients, intercepts, length), self._vectors, facts)


def _solve(features: Shares, labels: Sequence[int], examples: Sequence[Example]) -> tuple[Shares, Shares]:
    """(3, d + 1) coefficients and (3,) intercepts, -inf for a label that is not there."""
    coefficients = np.zeros((len(LABELS), features.shape[1]))
    intercepts = np.full(len(LABELS), -np.inf)
    present = sorted(set(labels))
    if len(present) == 1:
        intercepts[present] = 0.0
        return coefficients, intercepts
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=PENALTY, max_iter=_ITERATIONS)
    model.fit(features, labels, sample_weight=[one.weight for one in examples])
    if len(present) == 2:  # one row, of the second label against the first
        coefficients[present[1]], intercepts[present] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        coefficients[present], intercepts[present] = model.coef_, model.intercept_
    return coefficients, intercepts
