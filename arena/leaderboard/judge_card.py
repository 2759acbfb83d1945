"""How far a judge can be trusted."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from pydantic import Field

from arena.judges.labels import same_family
from arena.judges.reading import JudgeCount, RecordCount
from arena.leaderboard.cells import SpendingSummary, summarise_spending
from arena.leaderboard.metrics import COVERAGE_FLOOR
from arena.leaderboard.schema import Row
from arena.statistics.intervals import cohens_kappa

RIGHT_ABOVE = 0.5
"""A judge calls an answer right that it values higher: more than half agreement with the reference."""

RATES_ANSWERS = ("answer_accuracy", "answer_correctness")
"""Metrics whose value says how right an answer is."""

LEAST_FOR_CONSTANT = 10
"""Records from which on one value for all of them says something of the judge."""


class Agreement(Row):
    """Two ways to call an answer right, compared. `kappa`: Cohen's; None where either never varies.

    `both`, `neither`, `only_judge`, `only_other`: answers called right by both, by neither, by one alone.
    """

    other: str = Field(description="`answer_em`, or `human`.")
    n: int
    share: float
    kappa: float | None
    both: int
    neither: int
    only_judge: int
    only_other: int


class JudgeCard(Row):
    """One judge on one metric, over all cells.

    `judged` of `due` records have a value, `partly` a part of one; `mean` is over the judged ones, None when coverage
    is under the floor. `repeats`: the most verdicts on one record. `own_sd`: standard deviation of repeated verdicts on
    the same record, pooled (None = judged once). `split_share`: of AnswerAccuracy, how often its two ratings differ.
    `constant`: the one value it always gives, over 10 records or more. `same_family`: models of the run that it may
    prefer as its own kind. `echoed`: verdicts in which it repeated its prompt instead of judging; what it repeated
    counts as not judged.
    """

    judge: str
    metric: str
    judge_sha: str
    due: int
    judged: int
    partly: int
    mean: float | None
    repeats: int
    own_sd: float | None = None
    split_share: float | None = None
    constant: float | None = None
    same_family: list[str] = Field(default_factory=list)
    echoed: int = 0
    agreements: list[Agreement] = Field(default_factory=list)
    spending: SpendingSummary | None = None
    calls: int = 0
    input_tokens: float | None = None
    output_tokens: float | None = None
    usd: float | None = None


def summarise_judges(counts: Iterable[JudgeCount], models: Collection[str] = ()) -> list[JudgeCard]:
    """A card for each judge and metric, in the order in which they were counted. `models`: whose answers are judged."""
    return [_card(count, models) for count in counts]


def _card(count: JudgeCount, models: Collection[str]) -> JudgeCard:
    records = list(count.records.values())
    values = [record.value for record in records if record.value is not None]
    coverage = math.fsum(record.known for record in records) / sum(record.verdicts for record in records)
    spent = count.account.whole
    return JudgeCard(
        judge=count.judge,
        metric=count.metric,
        judge_sha=count.judge_sha,
        due=len(records),
        judged=len(values),
        partly=sum(record.value is None and record.known > 0 for record in records),
        mean=math.fsum(values) / len(values) if values and coverage >= COVERAGE_FLOOR else None,
        repeats=max(record.verdicts for record in records),
        own_sd=_own_sd(records),
        split_share=count.split / count.rated if count.rated else None,
        constant=values[0] if len(values) >= LEAST_FOR_CONSTANT and len(set(values)) == 1 else None,
        same_family=sorted(model for model in set(models) if same_family(count.judge, model)),
        echoed=count.echoed,
        agreements=_agreements(records) if count.metric in RATES_ANSWERS else [],
        spending=summarise_spending(count.account),
        calls=spent.calls,
        input_tokens=spent.input_tokens.value,
        output_tokens=spent.output_tokens.value,
        usd=spent.usd.value,
    )


def _own_sd(records: Sequence[RecordCount]) -> float | None:
    """Pooled within records: the root of all squared deviations from each record's mean over their degrees of freedom.

    None where no record has two values.
    """
    repeated = [record.values for record in records if len(record.values) > 1]
    if not repeated:
        return None
    means = [math.fsum(values) / len(values) for values in repeated]
    squares = math.fsum((one - mean) ** 2 for values, mean in zip(repeated, means, strict=True) for one in values)
    return math.sqrt(squares / sum(len(values) - 1 for values in repeated))


def _agreements(records: Sequence[RecordCount]) -> list[Agreement]:
    """With exact match and with people, each on the answers that it and the judge call right or wrong."""
    judged = [(record, record.value > RIGHT_ABOVE) for record in records if record.value is not None]
    by_match = [(right, record.em == 1.0) for record, right in judged if record.em is not None]
    by_people = [(right, record.human) for record, right in judged if record.human is not None]
    return [_agreement(other, pairs) for other, pairs in (("answer_em", by_match), ("human", by_people)) if pairs]


def _agreement(other: str, pairs: Sequence[tuple[bool, bool]]) -> Agreement:
    judge, others = [one for one, _ in pairs], [one for _, one in pairs]
    both = sum(one and two for one, two in pairs)
    neither = sum(not one and not two for one, two in pairs)
    return Agreement(
        other=other,
        n=len(pairs),
        share=(both + neither) / len(pairs),
        kappa=cohens_kappa(judge, others),
        both=both,
        neither=neither,
        only_judge=sum(judge) - both,
        only_other=sum(others) - both,
    )
