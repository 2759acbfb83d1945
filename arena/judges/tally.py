"""What a judge came to over a run, added up verdict by verdict; their texts are not held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.accounting import Account, account_of
from arena.judges.accuracy import JUDGES
from arena.llm.structured import REPEATS
from arena.prices import PriceTable
from arena.types import NO_RETRIEVAL_MODE, Cell, JudgeMetric, Verdict

Place = tuple[str, str]
"""(cell key, question id)."""


@dataclass(slots=True)
class RecordCount:
    """The verdicts on one record: the values of those that have one, how many there are, and what others say of it."""

    values: list[float] = field(default_factory=list)
    verdicts: int = 0
    known: float = 0.0
    em: float | None = None
    human: bool | None = None

    @property
    def value(self) -> float | None:
        """Mean over the repeats; None where any has no value."""
        return sum(self.values) / self.verdicts if len(self.values) == self.verdicts else None


@dataclass(slots=True)
class JudgeCount:
    """One judge by one metric, over all cells. `rated`: verdicts with both ratings, `split`: those that differ.

    `echoed`: verdicts in which the judge handed back what it was given, in whole or in part.
    """

    judge: str
    metric: JudgeMetric
    judge_sha: str
    records: dict[Place, RecordCount] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    rated: int = 0
    split: int = 0
    echoed: int = 0


class JudgeTally:
    """The judges of a run."""

    def __init__(self, prices: PriceTable | None = None, base_url: str | None = None) -> None:
        """`prices` of the judges' calls (None: none is known), asked at `base_url` (None: the provider's own)."""
        self._prices = prices
        self._base_url = base_url
        self._counts: dict[tuple[str, JudgeMetric, str], JudgeCount] = {}

    def __iter__(self) -> Iterator[JudgeCount]:
        return iter(self._counts.values())

    def add(self, verdict: Verdict, *, em: float | None, human: bool | None) -> None:
        """Add one verdict. `em`: exact match of the same answer; `human`: whether a person calls it right.

        None = unknown.
        """
        key = (verdict.judge, verdict.metric, verdict.judge_sha)
        count = self._counts.setdefault(key, JudgeCount(*key))
        record = count.records.setdefault((verdict.cell, verdict.question_id), RecordCount(em=em, human=human))
        record.verdicts += 1
        score = verdict.score
        if score.value is not None:
            record.values.append(score.value)
        record.known += 1.0 if score.value is not None else score.partial.known if score.partial else 0.0
        ratings = [part.value for part in verdict.parts if part.name in JUDGES and part.value is not None]
        if len(ratings) == len(JUDGES):
            count.rated += 1
            count.split += len(set(ratings)) > 1
        count.echoed += any(REPEATS in (part.reason or "") for part in verdict.parts)
        asked = Cell("judge", NO_RETRIEVAL_MODE, verdict.judge, {"base_url": self._base_url})
        count.account += account_of(verdict.calls, asked, self._prices)
