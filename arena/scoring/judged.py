"""Judges' verdicts as scores of the records that they were made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.judges.subject import settled, subject_of
from arena.judges.verdict_scores import score_of
from arena.metrics.case import NOT_JUDGED, Case
from arena.plan import Key
from arena.types import JudgeMetric, Score, Verdict


@dataclass(slots=True)
class VerdictShelf:
    """Verdicts by the record that they are about, and whose verdicts count.

    `judges`: metric -> the `judge_sha` whose verdicts are the scores.
    """

    by_key: dict[Key, list[Verdict]] = field(default_factory=dict)
    judges: dict[JudgeMetric, str] = field(default_factory=dict)

    def take(self, key: Key) -> list[Verdict]:
        """The verdicts on one record, in the order of their repeats; taken off the shelf."""
        return sorted(self.by_key.pop(key, ()), key=lambda one: (one.metric, one.judge_sha, one.repeat))


def shelve(verdicts: Iterable[Verdict], judges: Mapping[JudgeMetric, str]) -> VerdictShelf:
    """Sort verdicts by record. `judges`: as of the shelf; for a metric not named in it, whoever judged most."""
    shelf, counts = VerdictShelf(), Counter[tuple[JudgeMetric, str]]()
    for verdict in verdicts:
        shelf.by_key.setdefault((verdict.cell, verdict.question_id), []).append(verdict)
        counts[verdict.metric, verdict.judge_sha] += 1
    most = {metric: sha for (metric, sha), _ in sorted(counts.items(), key=lambda item: (item[1], item[0]))}
    shelf.judges = most | dict(judges)
    return shelf


@dataclass(frozen=True, slots=True)
class Judged:
    """The judge metrics of one record. `verdicts`: those that were made of it, of whatever judge."""

    scores: tuple[Score, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


def judge_case(
    case: Case, metrics: Sequence[JudgeMetric], verdicts: Sequence[Verdict], judges: Mapping[JudgeMetric, str]
) -> Judged:
    """The scores of `metrics`, in their order. A verdict on anything else than what is in `case` counts for nothing."""
    if not metrics:
        return Judged()
    known = {metric: settled(case, metric) for metric in metrics}
    due = {metric for metric, score in known.items() if score is None}
    sha = subject_of(case).sha if due and verdicts else None
    own = tuple(one for one in verdicts if one.metric in due and one.subject_sha == sha)
    counted = [one for one in own if one.judge_sha == judges.get(one.metric)]
    scores = [score or _verdict_score(metric, counted) for metric, score in known.items()]
    return Judged(tuple(scores), own)


def _verdict_score(metric: JudgeMetric, counted: Sequence[Verdict]) -> Score:
    own = [one for one in counted if one.metric == metric]
    return score_of(own) if own else Score(metric, None, NOT_JUDGED)
