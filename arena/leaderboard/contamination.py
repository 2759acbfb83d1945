"""What a reader knows of the answers without documents, beside the gold of other questions of their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

import numpy as np
from pydantic import Field

from arena.leaderboard.gap import FLOOR
from arena.leaderboard.metrics import (
    MetricRows,
    QuestionResamples,
    Rows,
    ScoreColumns,
    rows_by_value,
    summarise_selections,
)
from arena.leaderboard.schema import LEVEL, MetricSummary, Row
from arena.metrics import is_undefined
from arena.metrics.gaps import CROSSED, cross_scores
from arena.scoring import CellScores
from arena.statistics.intervals import Resamples, Values, difference_interval
from arena.statistics.significance import Crossed, chance_levels, deal, holm, shuffle_test
from arena.types import KINDS, UNSTATED, Dataset, Gold, Question

_BLOCK = 500
"""Most questions whose answers are held against each other: what it costs grows with the square of it."""


def _crossed(
    cell: CellScores,
    columns: ScoreColumns,
    questions: Sequence[Question],
    gold: Mapping[str, Gold],
    metric: str,
    seed: int,
) -> list[Crossed]:
    """Blocks of questions of one kind, of those that have a score; their rows are those of `columns` and `questions`.

    `metric`: one of CROSSED. `seed`: by which a kind with many questions is dealt to blocks.
    """
    scored = ~np.isnan(columns.values(metric))
    rng = np.random.default_rng(seed)
    blocks = []
    for kind in KINDS:
        rows = [row for row, one in enumerate(questions) if scored[row] and one.kind == kind]
        for part in deal(rows, _BLOCK, rng):
            ids = [columns.ids[row] for row in part]
            crossed = cross_scores(
                [_words(cell, one) for one in ids], [gold[one].answers for one in ids], CROSSED[metric]
            )
            scores = np.zeros((len(part), len(part)))
            for place, row in enumerate(crossed):
                scores[place, list(row)] = list(row.values())
            blocks.append(Crossed(part, scores))
    return blocks


def _words(cell: CellScores, question_id: str) -> str | None:
    """What is scored of an answer; None of an abstention, which scores 0 whatever it says."""
    return None if cell.usage[question_id].outcome == "abstained" else cell.answers[question_id] or ""


PROBED = (*CROSSED, "answer_accuracy")
"""Metrics by which memory is measured. A judge's has no chance level: nobody asks it about the gold of others."""

Finding = Literal["not_probed", "withheld", "chance", "above_chance"]


class Remembered(Row):
    """One metric of closed_book on some questions.

    `chance`: the mean score of the same answers against the gold of other questions of their kind; None where there is
    none. `above`: the mean of own less chance per question, with its 95 % interval. `p`: one-sided, that the answers
    belong to their questions (`arena.statistics.significance`); `p_adjusted`: after Holm over the metrics of all
    questions, and apart from those over all that is broken down.
    """

    own: MetricSummary
    chance: float | None = None
    above: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = Field(default=None, gt=0, le=1)
    p_adjusted: float | None = Field(default=None, gt=0, le=1)


class ProbedGroup(Row):
    """Closed-book scores on some questions. `by`: `all`, or the attribute (`kind`, `hops`) whose value is `value`."""

    by: Literal["all", "kind", "hops"]
    value: str
    n: int = Field(ge=0)
    metrics: dict[str, Remembered]


class ContaminationProbe(Row):
    """What one model knows of the answers by heart.

    `cell`: key of its closed_book cell, None where the run has none. `withheld`: why there is no verdict. `finding`:
    `above_chance` where any metric of all questions has an adjusted p of at most 5 %. `groups`: all questions first.
    `left_out`: kind -> questions that have no short answer to know: to unanswerable ones abstaining is right, and the
    words of a summary tell style, not knowledge.
    """

    llm: str
    cell: str | None = None
    finding: Finding
    withheld: str | None = None
    groups: list[ProbedGroup] = Field(default_factory=list)
    left_out: dict[str, int] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Group:
    by: Literal["all", "kind", "hops"]
    value: str
    rows: Rows


def probe_readers(
    cells: Sequence[CellScores],
    columns: Sequence[ScoreColumns],
    withheld: Sequence[str | None],
    dataset: Dataset,
    resamples: QuestionResamples,
    seed: int,
) -> list[ContaminationProbe]:
    """One per closed_book cell, then one per model that was not probed; none where no cell asks a model.

    Args:
        cells: of the run.
        columns: their scores.
        withheld: why their exact match says nothing, None: it does.
        dataset: what was asked.
        resamples: of its questions.
        seed: of the orders in which gold is dealt.
    """
    found = [
        _probe(cell, own, dataset, resamples.of(own.ids), seed).model_copy(
            update={} if reason is None else {"finding": "withheld", "withheld": reason}
        )
        for cell, own, reason in zip(cells, columns, withheld, strict=True)
        if (cell.cell.strategy, cell.cell.retrieval_mode) == FLOOR and cell.cell.llm is not None
    ]
    probed = {one.llm for one in found}
    models = dict.fromkeys(cell.cell.llm for cell in cells if cell.cell.llm is not None)
    unprobed = [one for one in models if one not in probed and one != UNSTATED]
    return found + [ContaminationProbe(llm=one, finding="not_probed") for one in unprobed]


def _probe(
    cell: CellScores, columns: ScoreColumns, dataset: Dataset, resamples: Resamples, seed: int
) -> ContaminationProbe:
    by_id = {one.question_id: one for one in dataset.questions}
    questions = [by_id[one] for one in columns.ids]
    scores = columns.scores.get("answer_em") or [None] * len(questions)
    due = [row for row, one in enumerate(scores) if one is not None and not is_undefined(one.reason)]
    kinds = Counter(one.kind for one in questions)
    kinds.subtract(questions[row].kind for row in due)
    groups = _groups(questions, due)
    metrics = [name for name in PROBED if name in columns.scores]
    selections = {(place, name): MetricRows(name, one.rows) for place, one in enumerate(groups) for name in metrics}
    own = summarise_selections(columns, selections, resamples)
    found = [{name: Remembered(own=own[place, name]) for name in metrics} for place in range(len(groups))]
    for name in CROSSED:
        blocks = _crossed(cell, columns, questions, dataset.gold, name, seed)
        for remembered, chance in zip(
            found, _chances(columns.values(name), blocks, groups, resamples, seed), strict=True
        ):
            remembered[name] = remembered[name].model_copy(update=chance)
    _adjust(found[:1])
    _adjust(found[1:])
    return ContaminationProbe(
        llm=str(cell.cell.llm),
        cell=cell.cell.key,
        finding="above_chance" if any((one.p_adjusted or 1.0) <= LEVEL for one in found[0].values()) else "chance",
        groups=[
            ProbedGroup(by=group.by, value=group.value, n=len(group.rows), metrics=metrics_of)
            for group, metrics_of in zip(groups, found, strict=True)
        ],
        left_out={kind: kinds[kind] for kind in KINDS if kinds[kind]},
    )


def _groups(questions: Sequence[Question], due: Sequence[int]) -> list[_Group]:
    """All that are due, then by each attribute that has more than one value among them."""
    groups, those_due = [_Group("all", "", np.array(due, dtype=np.intp))], frozenset(due)
    by: Literal["kind", "hops"]
    for by in ("kind", "hops"):
        values = [getattr(one, by) if row in those_due else None for row, one in enumerate(questions)]
        groups += [_Group(by, str(value), rows) for value, rows in rows_by_value(values).items()]
    return groups


def _chances(
    values: Values, blocks: Sequence[Crossed], groups: Sequence[_Group], resamples: Resamples, seed: int
) -> Iterator[dict[str, float | None]]:
    """Per group, what `Remembered` says of chance."""
    n = len(values)
    levels = chance_levels(blocks, n)
    members = np.zeros((n, len(groups)), dtype=bool)
    differences = np.full((n, len(groups)), np.nan)
    for place, group in enumerate(groups):
        members[group.rows, place] = True
        differences[group.rows, place] = (values - levels)[group.rows]
    p = shuffle_test(blocks, members, np.random.default_rng(seed))
    means = resamples.means(differences)
    for place in range(len(groups)):
        known = ~np.isnan(differences[:, place])
        if not known.any():
            yield {}
            continue
        above = difference_interval(differences[known, place], means[:, place])
        yield {
            "chance": fsum(levels[known]) / int(known.sum()),
            "above": fsum(differences[known, place]) / int(known.sum()),
            "ci_low": above.low if above else None,
            "ci_high": above.high if above else None,
            "p": None if np.isnan(p[place]) else float(p[place]),
        }


def _adjust(groups: Sequence[dict[str, Remembered]]) -> None:
    """Write the adjusted p of one family."""
    tested = [(group, name, one.p) for group in groups for name, one in group.items() if one.p is not None]
    for (group, name, _), adjusted in zip(tested, holm([p for _, _, p in tested]), strict=True):
        group[name] = group[name].model_copy(update={"p_adjusted": adjusted})
