"""The curves of a sweep as one SVG.

It has a row per factor, a column per metric, a line per cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from experiments.studies.sweep.curves import QUALITY, TOKENS, Curve

_TITLES = {
    "retrieval_recall": "recall of what was shown",
    "retrieval_precision": "precision of what was shown",
    "full_recall": "full recall",
    "mrr": "MRR",
    "answer_f1": "answer F1",
    TOKENS: "tokens per question",
}
_WIDE, _HIGH = 290, 240  # pixels a panel, with its title, its axes and their numbers
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 28, 44
_LINE = 18
_TICKS = 5
_MOST_NAMES = 10
"""In a legend; of a grid with more curves, only the cells are told apart."""

_COLOURS = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
)
_DASHES = {"dense": "1 4", "hybrid": "7 4"}
_STYLE = """text { font: 12px sans-serif; fill: #222 } .small { font-size: 10px } .grid { stroke: #ddd }
.line { fill: none; stroke-width: 1.5; stroke-linecap: round } .band { opacity: .12 }
.ring { fill: none; stroke-width: 1.5 }"""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Values from `low` to `high` at the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> _Axis:
        """With a little room beyond the values."""
        held = list(values)
        room = (max(held) - min(held)) / 20 or abs(held[0]) / 20 or 1.0
        return cls(min(held) - room, max(held) + room, start, end)

    def at(self, value: float) -> str:
        return f"{self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start):.1f}"

    def ticks(self) -> list[float]:
        """Round values, at most as many as there is room for."""
        least = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * times for times in (1, 2, 5, 10) if power * times >= least)
        return [place * step for place in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def curves_svg(curves: Sequence[Curve]) -> str:
    """The same curves give the same bytes. Bands are 95 % intervals, a ring is an elbow."""
    factors = list(dict.fromkeys(curve.factor for curve in curves))
    metrics = [name for name in (*QUALITY, TOKENS) if any(curve.metric == name for curve in curves)]
    names = list(dict.fromkeys(curve.name for curve in curves))
    if by_cell := len(names) > _MOST_NAMES:  # curves of one cell look alike, whatever the other factors are
        names = list(dict.fromkeys(curve.cell_name for curve in curves))
    looks = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    parts = []
    for row, factor in enumerate(factors):
        for column, metric in enumerate(metrics):
            shown = [
                (curve, looks[curve.cell_name if by_cell else curve.name])
                for curve in curves
                if (curve.factor, curve.metric) == (factor, metric)
            ]
            if shown:
                parts += _panel(shown, column * _WIDE, row * _HIGH)
    top = _HIGH * len(factors) + _LINE
    dashes = {curve.cell_name if by_cell else curve.name: _dash(curve) for curve in curves}
    for place, name in enumerate(names):
        line = f'd="M12 {top + place * _LINE - 4}h28" stroke="{looks[name]}"{dashes[name]}'
        parts += [f'<path class="line" {line}/>', _text(48, top + place * _LINE, name, "")]
    end = top + len(names) * _LINE
    parts += [_ring("26", str(end - 4), "#777"), _text(48, end, "elbow (a rule of thumb)", "")]
    size = f'width="{_WIDE * len(metrics)}" height="{end + _LINE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>'
    return "\n".join((head, '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>\n"))


def _panel(curves: Sequence[tuple[Curve, str]], across: float, down: float) -> list[str]:
    """Curves with their colours, all of one factor and metric, at a corner of the picture."""
    points = [one for curve, _ in curves for one in curve.points]
    bounds = [bound for one in points for bound in (one.mean, one.low, one.high) if bound is not None]
    left, right, top, bottom = across + _LEFT, across + _WIDE - _RIGHT, down + _TOP, down + _HIGH - _BOTTOM
    x, y = _Axis.over((one.value for one in points), left, right), _Axis.over(bounds, bottom, top)
    first, middle = curves[0][0], (left + right) / 2
    parts = [
        _text(middle, down + 18, _TITLES[first.metric], 'text-anchor="middle"'),
        _text(middle, bottom + 34, first.factor, 'text-anchor="middle"'),
    ]
    for tick in x.ticks():
        parts.append(f'<path class="grid" d="M{x.at(tick)} {top}V{bottom}"/>')
        parts.append(_text(x.at(tick), bottom + 14, f"{tick:.6g}", 'class="small" text-anchor="middle"'))
    for tick in y.ticks():
        parts.append(f'<path class="grid" d="M{left} {y.at(tick)}H{right}"/>')
        parts.append(_text(left - 4, f"{float(y.at(tick)) + 3:.1f}", f"{tick:.6g}", 'class="small" text-anchor="end"'))
    return parts + [part for curve, colour in curves for part in _curve(curve, colour, x, y)]


def _curve(curve: Curve, colour: str, x: _Axis, y: _Axis) -> list[str]:
    """Its band where both bounds are known, its line, its points and the ring."""
    parts = []
    for known, run in groupby(curve.points, lambda one: one.low is not None and one.high is not None):
        held = list(run)
        lows = [f"{x.at(one.value)},{y.at(one.low)}" for one in held if one.low is not None]
        highs = [f"{x.at(one.value)},{y.at(one.high)}" for one in held if one.high is not None]
        if known:
            parts.append(f'<polygon class="band" fill="{colour}" points="{" ".join((*lows, *reversed(highs)))}"/>')
    means = [(x.at(one.value), y.at(one.mean)) for one in curve.points]
    line = " ".join(map(",".join, means))
    parts.append(f'<polyline class="line" stroke="{colour}"{_dash(curve)} points="{line}"/>')
    parts += [f'<circle cx="{across}" cy="{down}" r="2.5" fill="{colour}"/>' for across, down in means]
    return parts + [
        _ring(*place, colour) for one, place in zip(curve.points, means, strict=True) if one.value == curve.elbow
    ]


def _dash(curve: Curve) -> str:
    dash = _DASHES.get(curve.retrieval_mode)
    return f' stroke-dasharray="{dash}"' if dash else ""


def _ring(across: str, down: str, colour: str) -> str:
    return f'<circle class="ring" cx="{across}" cy="{down}" r="5.5" stroke="{colour}"/>'


def _text(across: float | str, down: float | str, text: str, how: str) -> str:
    return f'<text x="{across}" y="{down}" {how}>{escape(text)}</text>'
