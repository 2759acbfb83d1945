"""What the light router reads of a question: its embedding, and how long it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.protocols import Vectors

Features = NDArray[np.float64]

_MARGIN = 3.0
"""Lengths beyond so many standard deviations from the training questions' say no more than those there."""


def log_lengths(texts: Sequence[str]) -> NDArray[np.float64]:
    """(n,) natural logarithm of each text's characters and one."""
    return np.log1p(np.array([len(text) for text in texts], dtype=np.float64))


def question_features(dense: Vectors, texts: Sequence[str], centre: float, spread: float) -> Features:
    """(n, d + 1): `dense` (n, d), rows L2 = 1, and a column of lengths in standard deviations from the mean.

    `centre` and `spread` are those of `log_lengths` over the training questions. A sentence embedding is made to tell
    what a text is about and hides how many things it names; its length does not.
    """
    lengths = np.clip((log_lengths(texts) - centre) / spread, -_MARGIN, _MARGIN)
    return np.hstack([dense.astype(np.float64), lengths[:, np.newaxis]])
