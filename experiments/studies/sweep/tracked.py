"""The curves of a sweep as one SVG: a row per factor, a column per metric, a line per cell.

The rows of a sweep, copied to MLflow.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from arena.config import tracking_uri
from arena.errors import TrackingError
from arena.statistics.intervals import Values
from arena.tracking.runs import warning_codes
from arena.tracking.track import SweptCell, SweptCells, track_sweep
from experiments.studies.folder import PICTURE, TABLE, SweepFolder
from experiments.studies.sweep.curves import QUALITY, TOKENS, Curve, SweepRow, versions_text
from experiments.terminal.progress import Reporter

_TITLES = {
    "retrieval_recall": "recall of what was shown",
    "retrieval_precision": "precision of what was shown",
    "full_recall": "full recall",
    "mrr": "MRR",
    "answer_f1": "answer F1",
    TOKENS: "tokens per question",
}
_WIDE, _HIGH = 3.1, 2.7  # inches a panel
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "rag-strategy-arena",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
_RING: dict[str, Any] = {"marker": "o", "markersize": 9, "markerfacecolor": "none"}
_MOST_NAMES = 10
"""In a legend; of a grid with more curves, only the cells are told apart."""

_DASHES = {"dense": "dotted", "hybrid": "dashed"}


def curves_svg(curves: Sequence[Curve]) -> str:
    """The same curves give the same bytes. Bands are 95 % intervals, a ring is an elbow."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    factors = list(dict.fromkeys(curve.factor for curve in curves))
    metrics = [name for name in (*QUALITY, TOKENS) if any(curve.metric == name for curve in curves)]
    names = list(dict.fromkeys(curve.name for curve in curves))
    if by_cell := len(names) > _MOST_NAMES:
        names = list(dict.fromkeys(curve.cell_name for curve in curves))
    with mpl.rc_context(_STYLE):
        size = (_WIDE * len(metrics), _HIGH * len(factors) + 0.22 * (len(names) + 2))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(factors), len(metrics), squeeze=False)
        colours = {name: mpl.colormaps["tab10"](number % 10) for number, name in enumerate(names)}
        for line, factor in zip(panels, factors, strict=True):
            for panel, metric in zip(line, metrics, strict=True):
                shown = [curve for curve in curves if (curve.factor, curve.metric) == (factor, metric)]
                _draw(panel, shown, colours, by_cell=by_cell)
                panel.set(xlabel=factor, title=_TITLES[metric])
        drawn = {line.get_label(): line for panel in panels.flat for line in panel.get_lines()}
        ring = Line2D([], [], color="grey", linestyle="none", **_RING)
        handles, labels = [*(drawn[name] for name in names), ring], [*names, "elbow (a rule of thumb)"]
        figure.legend(handles, labels, loc="outside lower left", frameon=False, ncols=2)
        out = io.StringIO()
        FigureCanvasSVG(figure)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _draw(panel: Any, curves: Sequence[Curve], colours: dict[str, Any], *, by_cell: bool) -> None:
    """`by_cell`: curves of one cell look alike, whatever the other factors are."""
    for curve in curves:
        xs = [one.value for one in curve.points]
        ys = [one.mean for one in curve.points]
        name = curve.cell_name if by_cell else curve.name
        colour, dash = colours[name], _DASHES.get(curve.retrieval_mode, "solid")
        panel.plot(xs, ys, color=colour, marker=".", linestyle=dash, label=name)
        low, high = _band(curve)
        panel.fill_between(xs, low, high, color=colour, alpha=0.12, linewidth=0)
        if curve.elbow is not None:
            place = xs.index(curve.elbow)
            panel.plot(xs[place], ys[place], color=colour, **_RING)
    if not curves:
        panel.set_axis_off()


def _band(curve: Curve) -> tuple[Values, Values]:
    import numpy as np

    lows = [np.nan if one.low is None else one.low for one in curve.points]
    highs = [np.nan if one.high is None else one.high for one in curve.points]
    return np.array(lows, dtype=np.float64), np.array(highs, dtype=np.float64)


_TAG_CHARS = 5_000


def track_rows(folder: SweepFolder, fingerprint: str, rows: Sequence[SweepRow], reporter: Reporter) -> str | None:
    """A parent run for the sweep and a child for each row; the parent's id (None: it could not be written)."""
    reporter.say("logging to MLflow ...")
    files = [path for name in (TABLE, PICTURE) if (path := folder.path / name).exists()]
    sweep = SweptCells(folder.sweep_id, fingerprint, [_cell(row) for row in rows], files)
    try:
        tracked = track_sweep(sweep, folder.path.parent, tracking_uri())
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the sweep folder has everything")
        return None
    for note in tracked.notes:
        reporter.warn(note)
    return tracked.run_id


def _cell(row: SweepRow) -> SweptCell:
    tags = {
        "source": row.source,
        "warnings": warning_codes(row.warnings),
        "arena": row.versions.get("rag-strategy-arena") or "unknown",
        "versions": versions_text(row.versions)[:_TAG_CHARS],
        "fingerprint": row.run_fingerprint,
        **({"mlflow.source.git.commit": row.commit} if row.commit else {}),
    }
    return SweptCell(row.point.name, row.cell, row.point.values, row.date, not row.cut, tags)
