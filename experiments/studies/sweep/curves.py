"""The rows of a sweep, one for every cell of every point, and its curves.

A curve is one metric of one cell over the values of one numeric factor, all else the same. It is made of scores and
tokens per question, which the points' derived tables hold.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.contest import ComparedCell, compare
from arena.leaderboard.metrics import Ids, QuestionResamples
from arena.leaderboard.schema import LEVEL, MetricSummary
from arena.leaderboard.validity import ValidityWarning, concerning
from arena.report.names import cell_name
from arena.statistics.intervals import Values, mean_interval
from arena.statistics.thresholds import elbow
from arena.store import QUESTIONS, SCORES, RunStore
from experiments.studies.review.sheet import no_formula
from experiments.studies.sweep.config import SweepPoint, short_values
from experiments.studies.sweep.run import REUSED

METRICS = (
    *("retrieval_recall", "retrieval_precision", "full_recall", "mrr"),
    *("recall_at_5", "recall_at_10", "ndcg_at_10", "evidence_availability"),
    *("answer_em", "answer_f1", "answer_contains", "answer_accuracy"),
    *("faithfulness", "lexical_faithfulness", "correct_abstention", "false_abstention"),
)
"""Those of sweep.csv, in its order."""

_PARTS = ("mean", "ci_low", "ci_high", "n", "coverage")
MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A cell at a point. `place`: the first, second, ... of its strategy, mode and model at that point.

    `source`: `measured`, or what its records were made of, as in `cut from k-20`. Latency was measured unless cut.
    `warnings`: what limits what its figures may be taken to say.
    """

    point: SweepPoint
    cell: CellSummary
    place: int
    source: str
    run_fingerprint: str
    date: str
    versions: Mapping[str, str | None]
    commit: str | None
    warnings: tuple[ValidityWarning, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether its records are another point's with fewer hits."""
        return self.source.startswith("cut ")

    def metric(self, name: str) -> MetricSummary | None:
        """A valid metric of the cell; None where it has none, or where it says nothing."""
        return None if self.cell.invalid(name) else self.cell.metrics.get(name)


def rows_of(point: SweepPoint, board: Leaderboard, store: RunStore) -> Iterator[SweepRow]:
    """The rows of one finished point."""
    manifest = store.manifest()
    taken = manifest.get(REUSED, {})
    places: dict[tuple[str, str, str | None], int] = {}
    for cell in board.cells:
        name = (cell.strategy, cell.retrieval_mode, cell.llm)
        places[name] = places.get(name, -1) + 1
        note = taken.get(cell.cell)
        yield SweepRow(
            point,
            cell,
            places[name],
            f"{note['how']} from {note['point']}" if note else MEASURED,
            str(manifest["fingerprint"]),
            str(manifest.get("finished") or manifest["started"]),
            manifest.get("libraries", {}),
            (manifest.get("git") or {}).get("commit"),
            tuple(concerning(board.all_warnings, cell.cell)),
        )


def csv_text(rows: Sequence[SweepRow]) -> str:
    """sweep.csv: figures as they are, nothing rounded; what is unknown or not defined is empty.

    A text that a spreadsheet would run as a formula has an apostrophe in front.
    """
    out = io.StringIO()
    lines = [csv_fields(row) for row in rows]
    writer = csv.DictWriter(out, lines[0], lineterminator="\n")
    writer.writeheader()
    for fields in lines:
        writer.writerow({name: no_formula(one) if isinstance(one, str) else one for name, one in fields.items()})
    return out.getvalue()


def csv_fields(row: SweepRow) -> dict[str, Any]:
    """One row of sweep.csv by column."""
    cell, latency = row.cell, row.cell.latency_seconds
    tokens = cell.tokens_per_question
    return {
        "point": row.point.name,
        **row.point.values,
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "cell": cell.cell,
        "source": row.source,
        **{name: getattr(cell, name) for name in ("n_questions", "n_answered", "n_abstained", "n_failed")},
        **_metrics(row),
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "llm_calls": cell.llm_calls_per_question,
        "retrievals": cell.retrievals_per_question,
        "usd": cell.cost_usd_per_question,
        "p50_seconds": None if row.cut else latency.p50,
        "p95_seconds": None if row.cut else latency.p95,
        "n_timed": 0 if row.cut else latency.n_measured,
        "warnings": "; ".join(dict.fromkeys(one.code for one in row.warnings)),
        "invalid": "; ".join(f"{one.metric or 'cell'}: {one.message}" for one in cell.guards),
        "date": row.date,
        "arena": row.versions.get("rag-strategy-arena"),
        "commit": row.commit,
        "versions": versions_text(row.versions),
        "run_fingerprint": row.run_fingerprint,
    }


def versions_text(versions: Mapping[str, str | None]) -> str:
    """As in `numpy 2.1.0; torch 2.13.0`, of what is installed."""
    return "; ".join(f"{name} {version}" for name, version in versions.items() if version)


def _metrics(row: SweepRow) -> dict[str, float | int | None]:
    return {f"{name}_{part}": getattr(row.metric(name), part, None) for name in METRICS for part in _PARTS}


TOKENS = "tokens"
"""Name of the column of input and output tokens."""


QUALITY = ("retrieval_recall", "retrieval_precision", "full_recall", "mrr", "answer_f1")
"""Metrics of which a curve is drawn, beside tokens; more of each is better."""


def question_values(store: RunStore) -> dict[tuple[str, str], tuple[Ids, Values]]:
    """(Cell key, metric of QUALITY or `TOKENS`) -> ids of the questions, sorted, and a value for each, NaN = none."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    scores = store.read_table(SCORES, ["cell", "metric", "question_id", "value"])
    for cell, metric, question_id, value in zip(*scores.values(), strict=True):
        if metric in QUALITY:
            found.setdefault((cell, metric), {})[question_id] = np.nan if value is None else value
    asked = store.read_table(QUESTIONS, ["cell", "question_id", "input_tokens", "output_tokens"])
    for cell, question_id, read, written in zip(*asked.values(), strict=True):
        spent = np.nan if read is None or written is None else float(read + written)
        found.setdefault((cell, TOKENS), {})[question_id] = spent
    ordered = {key: sorted(values.items()) for key, values in found.items()}
    return {
        key: (tuple(one for one, _ in pairs), np.array([value for _, value in pairs], dtype=np.float64))
        for key, pairs in ordered.items()
    }


PointValues = Mapping[str, Mapping[tuple[str, str], tuple[Ids, Values]]]
"""Point's name -> what `question_values` gives."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean at one value of the factor and its 95 % interval, None where they are withheld or not known."""

    value: float
    mean: float
    low: float | None
    high: float | None
    n: int
    point: str
    cell: str


MARGIN = 0.05
"""By how much a value may at most fall short of the best and still be enough."""


@dataclass(frozen=True, slots=True)
class BesideBest:
    """A value of the factor beside the one with the highest mean, `best`.

    `difference`: best less this one, on the questions that both have, with its paired 95 % interval; `p`: adjusted by
    Holm over all pairs of the curve. All None where the two are the same.
    """

    value: float
    best: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def within_margin(self) -> bool:
        """Whether the whole interval says that no more than MARGIN is lost."""
        return self.value == self.best or (self.high is not None and self.high <= MARGIN)


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric of one cell over one factor.

    `others`: the other factors that tell it from its like. `elbow`: a value of the factor, by rule of thumb (None: no
    elbow). `not_shown_worse`: the smallest value that is not significantly worse than the best, which does not show
    that nothing is lost; `enough`: the smallest one that is shown to lose no more than MARGIN. All are None for tokens,
    the last two also where values could not be compared.
    """

    factor: str
    metric: str
    strategy: str
    retrieval_mode: str
    llm: str | None
    place: int
    others: Mapping[str, Any]
    points: tuple[CurvePoint, ...]
    elbow: float | None
    not_shown_worse: BesideBest | None
    enough: BesideBest | None

    @property
    def cell_name(self) -> str:
        """As in `corrective + hybrid`; the second of one kind is `corrective + hybrid (2)`."""
        return cell_name(self.strategy, self.retrieval_mode, str(self.place + 1) if self.place else "")

    @property
    def name(self) -> str:
        """Of its cell, with the values of the other factors."""
        others = ", ".join(f"{name}={value}" for name, value in self.others.items())
        return f"{self.cell_name}, {others}" if others else self.cell_name


def curves_of(rows: Sequence[SweepRow], values: PointValues, resamples: QuestionResamples, seed: int) -> list[Curve]:
    """Every curve of at least two points, factor by factor; of a factor's values the numbers count."""
    factors = list(dict.fromkeys(name for row in rows for name in row.point.values))
    short = short_values([row.point for row in rows])
    curves = []
    for factor in factors:
        groups = _groups(rows, factor)
        firsts = [_others(group[0], factor) for group in groups]
        told_by = {name for one in firsts for name in one if one[name] != firsts[0][name]}
        for group, others in zip(groups, firsts, strict=True):
            told = {name: short[name].get(value, value) for name, value in others.items() if name in told_by}
            for metric in (*QUALITY, TOKENS):
                points = [one for row in group if (one := _point(row, factor, metric, values, resamples)) is not None]
                if len(points) > 1:
                    beside = [] if metric == TOKENS else _beside_best(metric, points, values, resamples, seed)
                    curves.append(_curve(factor, metric, group[0], told, points, beside))
    return curves


def _groups(rows: Sequence[SweepRow], factor: str) -> list[list[SweepRow]]:
    """Rows that differ in nothing but the value of `factor`, by that value; two or more in each."""
    groups: dict[str, list[SweepRow]] = {}
    for row in rows:
        if _is_number(row.point.values[factor]):
            cell = row.cell
            place = [cell.strategy, cell.retrieval_mode, cell.llm, row.place, _others(row, factor)]
            groups.setdefault(json.dumps(place, sort_keys=True), []).append(row)
    return [
        sorted(group, key=lambda row: float(row.point.values[factor])) for group in groups.values() if len(group) > 1
    ]


def _curve(
    factor: str,
    metric: str,
    first: SweepRow,
    told: Mapping[str, Any],
    points: Sequence[CurvePoint],
    beside: Sequence[BesideBest],
) -> Curve:
    bend = None if metric == TOKENS else elbow([one.value for one in points], [one.mean for one in points])
    return Curve(
        factor=factor,
        metric=metric,
        strategy=first.cell.strategy,
        retrieval_mode=first.cell.retrieval_mode,
        llm=first.cell.llm,
        place=first.place,
        others=told,
        points=tuple(points),
        elbow=None if bend is None else points[bend].value,
        not_shown_worse=next((one for one in beside if one.p is None or one.p > LEVEL), None),
        enough=next((one for one in beside if one.within_margin and (one.p is None or one.p > LEVEL)), None),
    )


def _point(
    row: SweepRow, factor: str, metric: str, values: PointValues, resamples: QuestionResamples
) -> CurvePoint | None:
    at, cell = float(row.point.values[factor]), row.cell
    if metric == TOKENS:
        found = values[row.point.name].get((cell.cell, TOKENS))
        return None if found is None or cell.llm is None else _tokens(at, row, found, resamples)
    summary = row.metric(metric)
    if summary is None or summary.mean is None:
        return None
    return CurvePoint(at, summary.mean, summary.ci_low, summary.ci_high, summary.n, row.point.name, cell.cell)


def _tokens(at: float, row: SweepRow, found: tuple[Ids, Values], resamples: QuestionResamples) -> CurvePoint | None:
    """The mean over questions; None where those of any question are unknown, as in the leaderboard."""
    ids, spent = found
    if np.isnan(spent).any():
        return None
    interval = mean_interval(spent, resamples.of(ids).means(spent[:, np.newaxis])[:, 0])
    low, high = (interval.low, interval.high) if interval else (None, None)
    return CurvePoint(at, float(np.mean(spent)), low, high, len(ids), row.point.name, row.cell.cell)


def _beside_best(
    metric: str, points: Sequence[CurvePoint], values: PointValues, resamples: QuestionResamples, seed: int
) -> list[BesideBest]:
    """Every value up to the best one beside it, the smallest first; empty where any could not be compared."""
    contenders = [ComparedCell(one.point, *values[one.point][one.cell, metric]) for one in points]
    compared = {(one.a, one.b): one for one in compare(metric, contenders, resamples, seed).comparisons}
    best = max(points, key=lambda one: (one.mean, -one.value))
    found: list[BesideBest] = []
    for one in points:
        if one is best:
            return [*found, BesideBest(one.value, best.value)]
        # Contenders are in the order of the factor's values, and so is every pair.
        forward = compared.get((best.point, one.point))
        pair = forward or compared[one.point, best.point]
        if pair.difference is None or pair.p_adjusted is None:
            return []
        sign = 1.0 if forward else -1.0
        bounds = sorted(sign * bound for bound in (pair.ci_low, pair.ci_high) if bound is not None)
        low, high = bounds if len(bounds) == 2 else (None, None)
        found.append(BesideBest(one.value, best.value, sign * pair.difference, low, high, pair.p_adjusted))
    return found


def _others(row: SweepRow, factor: str) -> dict[str, Any]:
    return {name: value for name, value in row.point.values.items() if name != factor}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
