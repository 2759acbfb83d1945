"""What the figures of a cell are symptoms of, and where to act."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median_low

from arena.report.failures import FailureSummary
from arena.report.schema import MetricSummary, Row
from arena.report.symptoms import SYMPTOMS, Signs
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE


class Symptom(Row):
    """One row of the symptom table that applies. `figures`: metric -> the value that triggered it."""

    name: str
    reading: str
    where_to_act: str
    figures: dict[str, float]


def diagnose(
    metrics: Mapping[str, MetricSummary],
    failures: FailureSummary | None = None,
    *,
    retrieval_mode: str,
    tokens_per_question: float | None = None,
    typical_tokens: float | None = None,
) -> list[Symptom]:
    """The symptoms of one cell, in the order of the table.

    Args:
        metrics: metric -> its summary. Judged faithfulness and accuracy are read where they are, else the lexical
            test and answer F1; the figures say which.
        failures: the cell's waterfall.
        retrieval_mode: of the cell; what a control is handed is no symptom.
        tokens_per_question: input and output.
        typical_tokens: of the run, see `typical_tokens`.
    """
    signs = Signs(metrics, failures, retrieval_mode, tokens_per_question, typical_tokens)
    return [
        Symptom(name=rule.name, reading=rule.reading, where_to_act=rule.where_to_act, figures=figures)
        for rule in SYMPTOMS
        if (figures := rule.find(signs))
    ]


def typical_tokens(cells: Iterable[tuple[str, float | None]]) -> float | None:
    """The lower median of the tokens per question of cells (retrieval mode, tokens) that retrieve and ask a model.

    None where there are fewer than two: a cell is not dear beside itself.
    """
    spent = [tokens for mode, tokens in cells if mode not in (GOLD_MODE, NO_RETRIEVAL_MODE) and tokens]
    return median_low(spent) if len(spent) > 1 else None
