"""Take filled sheets into a run folder, and work out how far reviewers agree.

They are compared with one another, with themselves, and with what else calls an answer right. An import changes
ratings, labels and the leaderboard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nextafter
from pathlib import Path
from typing import get_args

from arena.errors import DatasetError
from arena.judges.labels import Label, label_lines, labels_by_place, reviewed_labels
from arena.leaderboard.judge_card import RIGHT_ABOVE
from arena.plan import Key
from arena.statistics.intervals import cohens_kappa, krippendorffs_alpha
from arena.store import LABELS, REVIEW, SCORES, RunStore
from arena.store.runs import write_review
from arena.types import JudgeMetric
from experiments.execution.scoring import conclude_run
from experiments.studies.review.reading import Rating, merge_ratings, rating_lines, read_judged, read_ratings
from experiments.studies.review.sheet import CORRECT, SUPPORTED, Mark, criteria, open_finished, review_rows, run_tag
from experiments.terminal.progress import Reporter

Voices = Mapping[str, Mark]
"""Rater -> what the rater says of one answer by one criterion."""

Bar = tuple[str, float]
"""A metric, and the value above which it says yes."""

COUNTERPARTS: Mapping[str, Sequence[Bar]] = {
    CORRECT: (("answer_em", RIGHT_ABOVE), ("answer_accuracy", RIGHT_ABOVE), ("answer_correctness", RIGHT_ABOVE)),
    SUPPORTED: (("faithfulness", nextafter(1.0, 0.0)),),
}
"""Criterion -> the metrics that ask the same. Faithfulness is a share of statements, and the criterion asks for all."""


@dataclass(frozen=True, slots=True)
class Concord:
    """Two that say yes or no to the same `n` answers. `share` that they agree on: None for n = 0.

    `kappa`: Cohen's; None where both say one and the same throughout. `only_first`, `only_second`: yes by one alone.
    """

    first: str
    second: str
    n: int
    share: float | None
    kappa: float | None
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class Constancy:
    """One rater over answers judged more than once.

    `share`: of all pairs of judgements of one answer, those that agree; `alpha`: Krippendorff's, the repeats taken for
    raters.
    """

    rater: str
    n: int
    share: float
    alpha: float | None


@dataclass(frozen=True, slots=True)
class CriterionReview:
    """What a review says by one criterion.

    `n`: answers that anybody marked; of these reviewers say yes, no or not applicable by majority, and are `tied` on
    the rest. `shared`: answers to which two raters or more say yes or no; `alpha`: Krippendorff's on these. `mixed`:
    answers to which it applies for some raters and not for others; these marks of `na` are in no other figure.
    """

    criterion: str
    n: int
    yes: int
    no: int
    not_applicable: int
    tied: int
    shared: int
    alpha: float | None
    mixed: int
    raters: tuple[Concord, ...]
    within: tuple[Constancy, ...]
    others: tuple[Concord, ...]


def voices(ratings: Iterable[Rating], criterion: str) -> dict[Key, Voices]:
    """Answer -> what each rater says: of repeats, the commonest mark; a rater with no commonest says nothing."""
    marks: dict[Key, dict[str, list[Mark]]] = {}
    for rating in ratings:
        if mark := rating.marks.get(criterion):
            marks.setdefault(rating.place, {}).setdefault(rating.rater, []).append(mark)
    return {
        place: {rater: mark for rater, given in by_rater.items() if (mark := commonest(given))}
        for place, by_rater in marks.items()
    }


def commonest(marks: Iterable[Mark]) -> Mark | None:
    """The mark that is there most often; None for none, and where two are as often."""
    ranked = Counter(marks).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not tied else None


def review_criterion(
    criterion: str, ratings: Sequence[Rating], scores: Mapping[str, Mapping[Key, float]]
) -> CriterionReview:
    """Everything about one criterion. `scores`: metric -> answer -> value, of answers that have one."""
    said = voices(ratings, criterion)
    people = {place: commonest(by_rater.values()) for place, by_rater in said.items()}
    found = Counter(people.values())
    binary = {place: {rater: mark for rater, mark in one.items() if mark != "na"} for place, one in said.items()}
    names = sorted({rater for by_rater in said.values() for rater in by_rater})
    decided = {place: mark == "y" for place, mark in people.items() if mark in ("y", "n")}
    return CriterionReview(
        criterion=criterion,
        n=len(people),
        yes=found["y"],
        no=found["n"],
        not_applicable=found["na"],
        tied=found[None],
        shared=sum(len(one) > 1 for one in binary.values()),
        alpha=krippendorffs_alpha([list(one.values()) for one in binary.values()]),
        mixed=sum("na" in one.values() and len(set(one.values())) > 1 for one in said.values()),
        raters=tuple(
            concord(a, b, [(one[a] == "y", one[b] == "y") for one in binary.values() if a in one and b in one])
            for a, b in combinations(names, 2)
        ),
        within=tuple(_within(ratings, criterion)),
        others=tuple(
            concord(
                metric,
                "people",
                [(scores[metric][place] > bar, yes) for place, yes in decided.items() if place in scores[metric]],
            )
            for metric, bar in COUNTERPARTS.get(criterion, ())
            if metric in scores
        ),
    )


def concord(first: str, second: str, pairs: Sequence[tuple[bool, bool]]) -> Concord:
    """Compare two by what they say of each thing."""
    ours, theirs = [one for one, _ in pairs], [two for _, two in pairs]
    return Concord(
        first=first,
        second=second,
        n=len(pairs),
        share=sum(one == two for one, two in pairs) / len(pairs) if pairs else None,
        kappa=cohens_kappa(ours, theirs),
        only_first=sum(one and not two for one, two in pairs),
        only_second=sum(two and not one for one, two in pairs),
    )


def _within(ratings: Sequence[Rating], criterion: str) -> Iterable[Constancy]:
    """Of each rater who said yes or no to any answer more than once."""
    repeated: dict[str, dict[Key, list[Mark]]] = {}
    for rating in ratings:
        mark = rating.marks.get(criterion)
        if mark in ("y", "n"):
            repeated.setdefault(rating.rater, {}).setdefault(rating.place, []).append(mark)
    for rater, by_place in sorted(repeated.items()):
        units = [marks for marks in by_place.values() if len(marks) > 1]
        pairs = [one == two for marks in units for one, two in combinations(marks, 2)]
        if pairs:
            yield Constancy(rater, len(units), sum(pairs) / len(pairs), krippendorffs_alpha(units))


_JUDGED: frozenset[str] = frozenset(get_args(JudgeMetric))


@dataclass(frozen=True, slots=True)
class Review:
    """All that people said of a run, after an import.

    `raters`: rater -> answers judged. `n_blank`: rows of the sheets without a mark. `added`, `replaced`, `unchanged`:
    rater -> answers whose ratings the import brought, put in place of others of the same rater, or found as they were.
    `labels`: answers called right or wrong by a majority; `ties`: those that reviewers are divided on. `overruled`:
    labels that had been handed in and now say otherwise. `outdated`: ratings of answers that the run no longer has;
    they are kept and count for nothing.
    """

    run_id: str
    raters: Mapping[str, int]
    n_blank: int
    added: Mapping[str, int]
    replaced: Mapping[str, int]
    unchanged: Mapping[str, int]
    labels: int
    ties: int
    overruled: int
    outdated: int
    criteria: tuple[CriterionReview, ...]


def import_sheets(run_folder: Path, sheets: Sequence[Path], reporter: Reporter, data_at: str | None = None) -> Review:
    """Keep what reviewers wrote, and derive labels and leaderboard from all that the run folder now holds.

    A rater's ratings of an answer replace those that the same rater gave it before; an empty row leaves them. Repeats
    are therefore handed in together. The same sheets once more change no byte.

    Args:
        run_folder: a finished run.
        sheets: filled sheets.
        reporter: who hears of progress.
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no finished run, or its review.jsonl is damaged.
        DatasetError: something in a sheet cannot be, or no sheet holds a mark; nothing is written.
    """
    run = open_finished(run_folder, data_at)
    store = run.store
    rows = {row.row_id: row for row in review_rows(run)}
    given, n_blank = read_judged(sheets, rows, run_tag(run))
    if not given:
        raise DatasetError("no row is judged: write y, n or na into the columns of the criteria")
    with store.holding():
        ratings, became = merge_ratings(read_ratings(store), given)
        current = [rating for rating in ratings if rating.row_id in rows]
        reviewed, ties = _labels(current)
        writing = [planned.cell.key for planned in run.plan.cells if planned.cell.llm is not None]
        before = labels_by_place(store.labels_text() or "", writing, str(store.folder / LABELS))
        labels = reviewed_labels(before, reviewed)
        write_review(store.folder, rating_lines(ratings))
        store.write_labels(label_lines(labels))
        store.note_kept(REVIEW, LABELS)
        conclude_run(store, reporter, dataset=run.dataset)
        scores = _scores(store)
    return Review(
        run_id=store.run_id,
        raters=_counted(current),
        n_blank=n_blank,
        **became,
        labels=len(reviewed),
        ties=ties,
        overruled=sum(_overrules(label, before) for label in reviewed),
        outdated=len(ratings) - len(current),
        criteria=tuple(review_criterion(criterion.name, current, scores) for criterion in criteria()),
    )


def _labels(ratings: Sequence[Rating]) -> tuple[list[Label], int]:
    """Answers that a majority calls right or wrong; and how many have no majority."""
    labels, ties = [], 0
    for (cell, question_id), said in sorted(voices(ratings, CORRECT).items()):
        mark = commonest(said.values())
        ties += mark is None
        if mark in ("y", "n"):
            labels.append(Label(question_id=question_id, correct=mark == "y", cell=cell, raters=len(said)))
    return labels, ties


def _overrules(label: Label, before: Mapping[Key, Label]) -> bool:
    old = before.get((label.cell or "", label.question_id))
    return old is not None and old.raters is None and old.correct != label.correct


def _counted(ratings: Iterable[Rating]) -> dict[str, int]:
    judged = {(rating.rater, rating.place) for rating in ratings}
    return dict(sorted(Counter(rater for rater, _ in judged).items()))


def _scores(store: RunStore) -> dict[str, dict[Key, float]]:
    """Metric -> answer -> value, of the metrics that a criterion is held against.

    Of a judge's metrics only what a judge was asked: what follows by rule (an abstention's 0) is nobody's judgement.
    """
    asked = {(verdict.cell, verdict.question_id, verdict.metric) for verdict in store.verdicts()}
    wanted = {metric for bars in COUNTERPARTS.values() for metric, _ in bars}
    columns = store.read_table(SCORES, ["cell", "question_id", "metric", "value"])
    found: dict[str, dict[Key, float]] = {}
    for cell, question_id, metric, value in zip(*columns.values(), strict=True):
        by_rule = metric in _JUDGED and (cell, question_id, metric) not in asked
        if metric in wanted and value is not None and not by_rule:
            found.setdefault(metric, {})[cell, question_id] = value
    return found
