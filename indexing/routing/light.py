"""The light router: an embedding and a multinomial logistic regression, applied with nothing but numpy."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.errors import WeightsError
from arena.protocols import Embedder, Vectors
from arena.types import Tier, well_formed
from indexing.routing.features import question_features

WEIGHTS = "weights.safetensors"
_SHAPES = {"coefficients": 2, "intercepts": 1, "length": 1}


@dataclass(frozen=True, slots=True)
class LightWeights:
    """A fitted regression over m labels and d + 1 features.

    `coefficients` (m, d + 1) and `intercepts` (m,) float64; an intercept of -inf is a label that no training question
    had. `length` (2,): centre and spread of `log_lengths` over the training questions.
    """

    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    length: NDArray[np.float64]

    def probabilities(self, dense: Vectors, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n, m), rows sum 1: of each label for the questions `texts` with vectors `dense` (n, d)."""
        features = question_features(dense, texts, float(self.length[0]), float(self.length[1]))
        logits = features @ self.coefficients.T + self.intercepts
        exponents: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = exponents / exponents.sum(axis=1, keepdims=True)
        return shares

    def save(self, folder: Path) -> None:
        """Write weights.safetensors into `folder`. Raises `OSError`."""
        from safetensors.numpy import save

        tensors = {name: np.ascontiguousarray(getattr(self, name), dtype=np.float64) for name in _SHAPES}
        (folder / WEIGHTS).write_bytes(save(tensors))


def read_light(folder: Path, labels: int, dimension: int) -> LightWeights:
    """The weights in `folder`, for so many labels and vectors of that width.

    Raises:
        WeightsError: they are missing, unreadable or of another shape.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    place = folder / WEIGHTS
    try:
        tensors = load(place.read_bytes())
        found = LightWeights(*(tensors[name] for name in _SHAPES))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise WeightsError(f"cannot read the router's weights {str(place)!r} ({error}): train it again") from None
    shapes = (found.coefficients.shape, found.intercepts.shape, found.length.shape)
    if shapes != ((labels, dimension + 1), (labels,), (2,)):
        raise WeightsError(
            f"the router's weights {str(place)!r} have shapes {shapes}, not those of {labels} labels over vectors of "
            f"{dimension} numbers: train it again"
        )
    return found


class LightRouter:
    """A `Router` over the run's own embedder; a question is embedded as a query is."""

    def __init__(
        self,
        weights: LightWeights,
        labels: Sequence[str],
        identity: Mapping[str, str | int],
        embedder: Embedder,
        models: threading.Lock | None = None,
    ) -> None:
        """`models` is held while the embedder works: whoever shares the embedder shares it (None: nobody does)."""
        self._weights = weights
        self._labels = tuple(labels)
        self._identity = identity
        self._embedder = embedder
        self._models = models or threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._identity

    @property
    def tier(self) -> Tier:
        """T1: it stands in for the T5 that the paper trained."""
        return "T1"

    def probabilities(self, question: str) -> Mapping[str, float]:
        """See `Router.probabilities`. One caller at a time, the others wait."""
        asked = [well_formed(question)]
        with self._models:
            dense = self._embedder.embed_queries(asked).dense
        (row,) = self._weights.probabilities(dense, asked)
        return dict(zip(self._labels, map(float, row), strict=True))
