"""Verdicts of a controller on retrieved passages, against the gold documents."""

from __future__ import annotations

from dataclasses import dataclass

from arena.metrics.case import Case
from arena.metrics.decisions import verdicts


@dataclass(slots=True)
class GraderTally:
    """Verdicts of one node; a passage that is judged again counts again.

    `gold`: verdicts on passages of gold documents, `approved_gold` of them approving. `undecided`: neither way, or not
    readable; they approve nothing.
    """

    judged: int = 0
    gold: int = 0
    approved: int = 0
    approved_gold: int = 0
    undecided: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the approved that is gold, in [0, 1]; None when nothing was approved."""
        return self.approved_gold / self.approved if self.approved else None

    @property
    def recall(self) -> float | None:
        """Share of the judged gold that was approved, in [0, 1]; None when none was judged."""
        return self.approved_gold / self.gold if self.gold else None

    def add(self, approved: bool | None, *, gold: bool) -> None:
        """Count one verdict."""
        self.judged += 1
        self.gold += gold
        self.approved += bool(approved)
        self.approved_gold += bool(approved) and gold
        self.undecided += approved is None


def count_verdicts(graders: dict[str, GraderTally], case: Case) -> None:
    """Add the verdicts of one question to `graders` (node -> tally); none where no gold document is known."""
    gold = set(case.gold.supporting_ids)
    for node, doc_id, approved in verdicts(case.record) if gold else ():
        graders.setdefault(node, GraderTally()).add(approved, gold=doc_id in gold)
