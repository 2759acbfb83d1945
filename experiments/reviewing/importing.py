"""Filled sheets into a run folder: ratings, labels, and the leaderboard that they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from arena.errors import DatasetError
from arena.judges.labels import Label, label_lines, labels_by_place, reviewed_labels
from arena.plan import Key
from arena.store import LABELS, REVIEW, SCORES, RunStore, write_review
from arena.types import JudgeMetric
from experiments.reviewing.agreement import COUNTERPARTS, CriterionReview, commonest, review_criterion, voices
from experiments.reviewing.judged_rows import read_judged
from experiments.reviewing.ratings import Rating, merge_ratings, rating_lines, read_ratings
from experiments.reviewing.rows import review_rows, run_tag
from experiments.reviewing.rubric import CORRECT, CRITERIA
from experiments.reviewing.sheet import open_finished
from experiments.run.scoring import PastRun, conclude_run
from experiments.terminal.progress import Reporter

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
    judged = read_judged(sheets, rows, run_tag(run))
    if not judged.ratings:
        raise DatasetError("no row is judged: write y, n or na into the columns of the criteria")
    with store.holding():
        merged = merge_ratings(read_ratings(store), judged.ratings)
        current = [rating for rating in merged.ratings if rating.row_id in rows]
        reviewed, ties = _labels(current)
        before = labels_by_place(store.labels_text() or "", _writing(run), str(store.folder / LABELS))
        labels = reviewed_labels(before, reviewed)
        write_review(store.folder, rating_lines(merged.ratings))
        store.write_labels(label_lines(labels))
        store.note_kept(REVIEW, LABELS)
        conclude_run(store, reporter, dataset=run.dataset)
        scores = _scores(store)
    return Review(
        run_id=store.run_id,
        raters=_counted(current),
        n_blank=judged.n_blank,
        added=merged.added,
        replaced=merged.replaced,
        unchanged=merged.unchanged,
        labels=len(reviewed),
        ties=ties,
        overruled=sum(_overrules(label, before) for label in reviewed),
        outdated=len(merged.ratings) - len(current),
        criteria=tuple(review_criterion(criterion.name, current, scores) for criterion in CRITERIA),
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


def _writing(run: PastRun) -> list[str]:
    return [planned.cell.key for planned in run.plan.cells if planned.cell.llm is not None]


def _counted(ratings: Iterable[Rating]) -> dict[str, int]:
    places: dict[str, set[Key]] = {}
    for rating in ratings:
        places.setdefault(rating.rater, set()).add(rating.place)
    return {rater: len(judged) for rater, judged in sorted(places.items())}


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
