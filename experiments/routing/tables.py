"""An evaluation as rows of text: the same for the terminal and for the card."""

from __future__ import annotations

from collections.abc import Sequence

from arena.report.figures import UNDEFINED, per_question_text, ratio_text, signed_text
from arena.report.text import Rows
from experiments.calibrating.output import interval_text, signed
from experiments.routing.evaluation import Evaluation, PolicyRow
from strategies.adaptive import LABELS

LEGEND = (
    "right label: the simplest way that answers right, else the prior of the question's kind. right: answers that are "
    "exactly a gold one. steps: retrievals a question. Differences to always_c: of right answers, in pairs, with their "
    "95 % interval; of steps, as a share of its steps."
)


def policy_rows(rows: Sequence[PolicyRow]) -> Rows:
    """Who routed, and what it would have come to."""
    headings = ("routed by", "n", "right label", *LABELS, "right", "less always_c", "steps", "of always_c's")
    return Rows(headings, tuple((one.policy, *_figures(one)) for one in rows), 1)


def bias_rows(rows: Sequence[PolicyRow]) -> Rows:
    """The router under other preferences for cheaper labels."""
    headings = ("cost_bias", "n", "right label", *LABELS, "right", "less always_c", "steps", "of always_c's")
    return Rows(headings, tuple((f"{one.bias:g}", *_figures(one)) for one in rows), 1)


def confusion_rows(found: Evaluation) -> Rows:
    """Right labels by given ones: counts, and shares of each right label."""
    headings = ("right label", *(f"given {label}" for label in LABELS), *(f"share {label}" for label in LABELS))
    rows = tuple(
        (
            truth,
            *(str(found.confusion[truth][label]) for label in LABELS),
            *(ratio_text(found.row_normalised[truth][label]) for label in LABELS),
        )
        for truth in LABELS
    )
    return Rows(headings, rows, 1)


def _figures(row: PolicyRow) -> tuple[str, ...]:
    return (
        str(row.n),
        interval_text(row.agreement),
        *(ratio_text(row.shares.get(label)) for label in LABELS),
        interval_text(row.right),
        UNDEFINED if row.against_c is None else signed(row.against_c),
        per_question_text(row.steps),
        signed_text(row.steps_against_c),
    )
