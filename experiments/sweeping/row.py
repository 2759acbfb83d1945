"""Rows of a sweep: one for every cell of every point."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.schema import MetricSummary
from arena.leaderboard.validity import ValidityWarning, concerning
from arena.store import RunStore
from experiments.reviewing.cell_text import no_formula
from experiments.sweeping.point import Point
from experiments.sweeping.reuse import REUSED

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

    point: Point
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


def rows_of(point: Point, board: Leaderboard, store: RunStore) -> Iterator[SweepRow]:
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
    writer: Any = None
    for row in rows:
        fields = csv_fields(row)
        if writer is None:
            writer = csv.DictWriter(out, fields.keys(), lineterminator="\n")
            writer.writeheader()
        writer.writerow(
            {name: no_formula(value) if isinstance(value, str) else value for name, value in fields.items()}
        )
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
    return {
        f"{name}_{part}": getattr(row.metric(name), part, None) if row.metric(name) else None
        for name in METRICS
        for part in _PARTS
    }
