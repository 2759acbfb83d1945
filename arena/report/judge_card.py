"""How far a judge can be trusted."""

from __future__ import annotations

from pydantic import Field

from arena.report.schema import Row
from arena.report.spending import SpendingSummary


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

    `judged` of `due` records have a value, `partly` a part of one. `own_sd`: standard deviation of repeated verdicts on
    the same record, pooled (None = judged once). `split_share`: of AnswerAccuracy, how often its two ratings differ.
    `constant`: the one value it always gives. `same_family`: models of the run that it may prefer as its own kind.
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
    agreements: list[Agreement] = Field(default_factory=list)
    spending: SpendingSummary | None = None
    calls: int = 0
    input_tokens: float | None = None
    output_tokens: float | None = None
    usd: float | None = None
