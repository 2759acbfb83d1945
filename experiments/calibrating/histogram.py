"""Two distributions of scores one under the other, as text."""

from __future__ import annotations

import numpy as np

from experiments.calibrating.finding import Population

BINS = 24
_BARS = " ▁▂▃▄▅▆▇█"
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def quantiles(population: Population) -> tuple[float, ...]:
    """The scores at `QUANTILES`."""
    return tuple(float(one) for one in np.quantile(population.scores, QUANTILES))


def bars(populations: tuple[Population, Population]) -> tuple[str, str]:
    """One line each over the range of both, a character a bin, as high as its share of the population's fullest bin.

    A bin that holds anything is never drawn empty.
    """
    every = [score for one in populations for score in one.scores]
    low, high = min(every), max(every)
    span = (low, high) if high > low else (low - 0.5, high + 0.5)
    first, second = (_line(one, span) for one in populations)
    return first, second


def _line(population: Population, span: tuple[float, float]) -> str:
    counts, _ = np.histogram(population.scores, BINS, span)
    steps = np.ceil(counts / counts.max() * (len(_BARS) - 1)).astype(int)
    return "".join(_BARS[step] for step in steps)
