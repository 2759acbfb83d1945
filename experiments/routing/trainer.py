"""What evaluation and writing need of a way to train a router."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.routing.examples import Example
from indexing.routing import RouterKind

Shares = NDArray[np.float64]


class Trained(Protocol):
    """A router as it came out of training."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is worth recording of the training, as JSON values."""
        ...

    def probabilities(self, texts: Sequence[str]) -> Shares:
        """(n, 3), rows sum 1: of the labels A, B and C for each question."""
        ...

    def save(self, folder: Path) -> None:
        """Write the weights into a folder that exists. Raises `OSError`."""
        ...


class Trainer(Protocol):
    """Trains routers of one kind. The same examples give the same router."""

    @property
    def kind(self) -> RouterKind: ...

    @property
    def embedder(self) -> Mapping[str, str | int] | None:
        """What can change a question's vector; None where none is read."""
        ...

    def fit(self, examples: Sequence[Example]) -> Trained: ...
