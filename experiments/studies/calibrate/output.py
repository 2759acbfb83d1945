"""A calibration on a terminal, or as JSON; distributions of scores are drawn one under the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.text import Text

from arena.leaderboard.schema import MetricSummary
from arena.report.figures import (
    UNDEFINED,
    metric_text,
    per_question_text,
    ratio_text,
    signed_interval_text,
    signed_text,
)
from arena.report.text import Part, Rows, print_parts
from arena.statistics.intervals import Interval
from experiments.studies.calibrate.separation import (
    Calibration,
    Figure,
    Population,
    TargetCalibration,
)
from experiments.terminal.tables import Console, as_json

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


_COUNTED = frozenset({"passages", "words", "tokens", "retrievals"})
"""Headings of figures that are amounts, not ratios."""


def print_calibration(found: Calibration, console: Console, *, json: bool) -> None:
    """Print all that was found, or one JSON object."""
    if json:
        console.file.write(as_json(calibration_fields(found)) + "\n")
        return
    parts: list[Part] = []
    for finding in found.findings:
        parts += _finding_parts(finding)
    parts += [Text(f"{target}: not told: {why}") for target, why in found.untold.items()]
    next_step = f"written {found.written}  (next: arena run {found.written})"
    parts.append(Text(next_step if found.written else "no config is written: no value may be used"))
    print_parts(parts, console)


def calibration_fields(found: Calibration) -> dict[str, Any]:
    """Everything, as JSON values."""
    fields = asdict(found) | {"written": None if found.written is None else str(found.written)}
    for finding, told in zip(found.findings, fields["findings"], strict=True):
        for population, one in zip(finding.populations, told["populations"], strict=True):
            one["quantiles"] = dict(zip(map(str, QUANTILES), quantiles(population), strict=True))
    return fields


def _finding_parts(finding: TargetCalibration) -> Iterator[Part]:
    yield Text(f"{finding.target}: {finding.judge}, read in {finding.cell}")
    yield _table_rows(finding)
    yield Text("\n".join(_choice_lines(finding)))
    if finding.parts:
        yield _part_rows(finding)
    yield _distribution_rows(finding)
    yield from finding.notes
    yield Text(finding.verdict + ("" if finding.separates else "; nothing of it is written"))
    yield Text("")


def _table_rows(finding: TargetCalibration) -> Rows:
    table = finding.table
    rows = tuple(
        (
            value_text(row.value),
            row.mark,
            *(_figure_text(heading, figure) for heading, figure in zip(table.headings, row.figures, strict=True)),
        )
        for row in table.rows
    )
    setting = finding.chosen[0].name if len(finding.chosen) == 1 else "threshold"
    return Rows((setting, "", *table.headings), rows, 2)


def _choice_lines(finding: TargetCalibration) -> Iterator[str]:
    yield f"AUC {interval_text(finding.auc)}"
    for one in finding.chosen:
        span = f"{value_text(one.low)} to {value_text(one.high)}"
        yield f"{one.setting} {value_text(one.value)}, {span} in resamples: {one.criterion}"
        yield "  " + ", ".join(f"{name} {_measure_text(name, value)}" for name, value in one.measures.items())


def _part_rows(finding: TargetCalibration) -> Rows:
    rows = []
    for part in finding.parts:
        kept, refused, gain = part.best.measures.values()
        figures = (interval_text(part.auc), value_text(part.best.value), interval_text(kept), interval_text(refused))
        rows.append((part.name, str(part.n), *figures, signed(gain), "yes" if part.separates else "no"))
    headings = ("alone", "n", "AUC", "best", "kept", "refused", "J less optimism", "separates")
    return Rows(headings, tuple(rows), 1)


def _distribution_rows(finding: TargetCalibration) -> Rows:
    drawn = bars(finding.populations)
    rows = tuple(
        (one.name, f"|{line}|", str(len(one.scores)), *(f"{score:.3g}" for score in quantiles(one)))
        for one, line in zip(finding.populations, drawn, strict=True)
    )
    names = ("least", "10%", "25%", "median", "75%", "90%", "most")
    return Rows(("scores of", "", "n", *names), rows, 2)


def _figure_text(heading: str, figure: Figure) -> str:
    if isinstance(figure, Interval):
        return interval_text(figure)
    if heading == "J":
        return signed_text(figure)
    return per_question_text(figure) if heading.split(" ")[0] in _COUNTED else ratio_text(figure)


def _measure_text(name: str, value: Interval) -> str:
    return signed(value) if name.startswith(("J", "gain")) else interval_text(value)


def signed(value: Interval) -> str:
    """A difference and its interval."""
    return f"{signed_text(value.mean)} ({signed_interval_text(value.low, value.high)})"


def interval_text(value: Interval | None) -> str:
    """A ratio and its interval, rounded as a metric is."""
    if value is None:
        return UNDEFINED
    summary = MetricSummary(mean=value.mean, ci_low=value.low, ci_high=value.high, n=1, coverage=1.0)
    return metric_text(summary)


def value_text(value: float | None) -> str:
    """A value of a setting to four digits that count; what is written to a config is not rounded."""
    return "none" if value is None else f"{value:.4g}"
