"""From the parts of a verdict to its value, from repeated verdicts to a score, from those of a run to counts.

A judge may leave statements out, repeat some, change their order, contradict itself, or judge what nobody asked about.
Only a verdict of 0 or 1 on a statement that was sent counts. Verdicts are added up one at a time; their texts are not
kept in memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.accounting import Account, account_of
from arena.llm.structured import REPEATS
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.prices import PriceTable
from arena.text import sentences as split_sentences
from arena.types import NO_RETRIEVAL_MODE, Cell, JudgeMetric, Partial, Score, Verdict, VerdictPart

NOT_ASKED = "not asked"
JUDGES = ("judge_1", "judge_2")


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """One asking: the prompt, and the fields of the reply, or why there is none that can be used."""

    prompt: str
    reply: Mapping[str, Any] | None
    problem: str | None = None


def why_unread(asked: JudgeReply | None) -> str | None:
    """Why a judge's reply cannot be read; None of `asked` = it was not asked for."""
    return NOT_ASKED if asked is None else asked.problem


@dataclass(frozen=True, slots=True)
class MetricReading:
    """The parts, and the value in [0, 1] where all were judged.

    `partial`: of a value that is None, what is known of it (None = nothing). `details`: what it was worked out from.
    """

    parts: tuple[VerdictPart, ...]
    value: float | None = None
    partial: Partial | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    def score(self, metric: JudgeMetric) -> Score:
        """As a score; one of which nothing is known is a failure of the judge."""
        if self.value is not None:
            return Score(metric, self.value)
        partly = self.partial is not None and self.partial.known > 0
        return Score(metric, None, PARTLY_JUDGED if partly else JUDGE_FAILED, self.partial)


def share(parts: Sequence[VerdictPart]) -> MetricReading:
    """The share of the parts judged 1, over all parts; a part that was not judged may be 0 or 1."""
    judged = [part.value for part in parts if part.value is not None]
    if not judged:
        return MetricReading(tuple(parts))
    total, missing = len(parts), len(parts) - len(judged)
    if not missing:
        return MetricReading(tuple(parts), sum(judged) / total)
    low, high = sum(judged) / total, (sum(judged) + missing) / total
    return MetricReading(tuple(parts), None, Partial(len(judged) / total, low, high))


def nothing(name: str, why: str | None) -> MetricReading:
    """What could not be judged at all, because `name` could not be had."""
    return MetricReading((VerdictPart(name, None, why),))


NOT_RETURNED = "the judge returned no verdict on it"
CONTRADICTED = "the judge contradicts itself"
NO_BINARY = "the verdict is neither 0 nor 1"

_WORD = re.compile(r"\w+")
_SAME = 0.5  # of the words of the shorter one


def judged_statements(sent: Sequence[str], returned: Iterable[tuple[str, int]]) -> tuple[VerdictPart, ...]:
    """One part for each statement of `sent`, in its order, with its verdict out of `returned` (statement, verdict).

    Statements are the same when their words are: case, punctuation and spaces aside.
    """
    verdicts: dict[str, set[int]] = {}
    for statement, verdict in returned:
        verdicts.setdefault(words_of(statement), set()).add(verdict)
    return tuple(_part(statement, verdicts) for statement in sent)


def judged_sentences(reference: str, returned: Iterable[tuple[str, int]]) -> tuple[VerdictPart, ...]:
    """One part for each returned statement of `reference`, and one for each of its sentences that none is about.

    For a judge that takes a text apart by itself. A statement is about a sentence when they share half of the words of
    the shorter one; one about no sentence does not count, and a repeated one counts once.
    """
    listed = list(returned)
    sentences = [sentence for sentence in split_sentences(reference) if words_of(sentence)]
    words = {one: frozenset(words_of(one).split()) for one in (*sentences, *(statement for statement, _ in listed))}
    about = {
        statement: [one for one in sentences if _alike(words[statement], words[one])]
        for statement in dict.fromkeys(statement for statement, _ in listed)
    }
    distinct: dict[str, str] = {}
    for statement, _ in listed:
        if about[statement]:
            distinct.setdefault(words_of(statement), statement)
    judged = judged_statements(list(distinct.values()), listed)
    covered = {sentence for statement in distinct.values() for sentence in about[statement]}
    return judged + tuple(VerdictPart(one, None, NOT_RETURNED) for one in sentences if one not in covered)


def words_of(text: str) -> str:
    """What two writings of the same statement have in common."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _part(statement: str, verdicts: Mapping[str, set[int]]) -> VerdictPart:
    found = verdicts.get(words_of(statement), set())
    if not found:
        return VerdictPart(statement, None, NOT_RETURNED)
    if not found <= {0, 1}:
        return VerdictPart(statement, None, NO_BINARY)
    if len(found) > 1:
        return VerdictPart(statement, None, CONTRADICTED)
    return VerdictPart(statement, float(min(found)))


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= _SAME * shorter


NOTHING_KNOWN = Partial(known=0.0, low=0.0, high=1.0)


def score_of(verdicts: Sequence[Verdict]) -> Score:
    """The mean of `verdicts`, which are one judge's on one record by one metric; at least one.

    Where any lacks its value the score has none, and `partial` says what the others leave open.
    """
    scores = [one.score for one in verdicts]
    metric = scores[0].metric
    values = [score.value for score in scores if score.value is not None]
    if len(values) == len(scores):
        return Score(metric, sum(values) / len(values))
    if len(scores) == 1:
        return scores[0]
    known = [_known(score) for score in scores]
    partial = Partial(
        known=sum(one.known for one in known) / len(known),
        low=sum(one.low for one in known) / len(known),
        high=sum(one.high for one in known) / len(known),
    )
    return Score(metric, None, PARTLY_JUDGED if partial.known > 0 else JUDGE_FAILED, partial)


def _known(score: Score) -> Partial:
    if score.value is not None:
        return Partial(1.0, score.value, score.value)
    return score.partial or NOTHING_KNOWN


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


class JudgeCounts:
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
