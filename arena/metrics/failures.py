"""The failure taxonomy: exactly one class per question, from its record, gold and scores, without a model.

What the outcome alone settles comes first; then, of a wrong answer, the first stage at which it went wrong: which
evidence it was written without, how far that got on its way to the reader, and what the reader made of the evidence
that it was shown. The classes and their rules are in failures.yaml; docs/failures.md shows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from arena.errors import AllowanceSpent
from arena.files import read_yaml_file
from arena.metrics.answer import contains, is_supported
from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED, Case, is_undefined
from arena.metrics.controllers import allowance_was_spent, had_no_room, route_needed, route_taken, was_capped
from arena.metrics.retrieval import broken_hop
from arena.text import content_words
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Answer, Failure, Retrieval, Score

FailureStage = Literal["system", "retrieval", "controller", "reader", "form", "untold", "right"]
"""Where an answer went wrong, from left to right; `untold`: gold cannot say; `right`: nothing went wrong."""

Reached = Literal["hits", "dropped", "beyond", "nowhere"]

_PIECE = re.compile(r"#\d{4,}$")  # pieces are named DOCUMENT#0000, DOCUMENT#0001, ...


@dataclass(frozen=True, slots=True)
class FailureClass:
    """What a question can have come to. `rule`: when it is this one; `remedy`: where to act (empty: nothing to do)."""

    name: str
    stage: FailureStage
    meaning: str
    rule: str
    remedy: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong that is known to have. `unscored` may be either, and is not counted as one."""
        return self.stage != "right" and self.name != "unscored"


@cache
def failure_classes() -> Mapping[str, FailureClass]:
    """Class name -> class, in waterfall order; the last ones are right."""
    table = read_yaml_file(Path(__file__).with_suffix(".yaml"), "failure classes")
    return {name: FailureClass(name, **fields) for name, fields in table.items()}


@dataclass(frozen=True, slots=True)
class FailureFinding:
    """The class of one question.

    `hop`: number, from 1, of the first hop whose evidence the answer was written without (None: all was shown, or the
    dataset gives no order); `doc_id`: the document that carries it.
    """

    failure: str
    hop: int | None = None
    doc_id: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """The first document of the chain that was not shown. `hop`: its number from 1 (None: the order is not known).

    `alone`: no evidence that could lead to it was shown either.
    """

    doc_id: str
    hop: int | None
    alone: bool


def first_missing(case: Case) -> Missing | None:
    """None when all evidence was shown, when none is known, or when a foreign system does not say what it had.

    Without an order of hops: the first that is named.
    """
    if not case.record.tells_evidence:
        return None
    gold, shown = case.gold, set(case.record.answer.used_ids if case.record.answer else ())
    hop = broken_hop(shown, gold.hop_order or ())
    if hop is not None and gold.hop_order:
        return Missing(gold.hop_order[hop - 1], hop, alone=hop == 1)
    doc_id = next((doc_id for doc_id in gold.supporting_ids if doc_id not in shown), None)
    return None if doc_id is None else Missing(doc_id, None, alone=shown.isdisjoint(gold.supporting_ids))


def why_missing(case: Case, missing: Missing) -> str:
    """The class of a wrong answer that was written without `missing`: the furthest it got in any retrieval decides."""
    record = case.record
    if not record.retrievals or (route_taken(record) == "B" and route_needed(case.question.hops) == "C"):
        return "wrong_route"
    reached = furthest(missing.doc_id, record.retrievals)
    if reached == "hits":
        return "stopped_by_cap" if had_no_room(record) else "dropped_by_grader"
    if was_capped(record) and _still_finding(record.retrievals, case.gold.supporting_ids):
        return "stopped_by_cap"
    if reached == "nowhere":
        if record.cell.retrieval_mode == GOLD_MODE:
            return "withheld_by_control"
        return "index_miss" if missing.alone else "incomplete_chain"
    return "dropped_by_reranker" if reached == "dropped" else "rank_miss"


def furthest(doc_id: str, retrievals: Sequence[Retrieval]) -> Reached:
    """How far a document got at best: among the hits, dropped by a reranker's threshold, or beyond k."""
    if any(hit.doc_id == doc_id for retrieval in retrievals for hit in retrieval.hits):
        return "hits"
    if any(_is_of(passage_id, doc_id) for retrieval in retrievals for passage_id in retrieval.beyond):
        return "beyond"
    return "dropped" if any(hit.doc_id == doc_id for one in retrievals for hit in one.dropped) else "nowhere"


def _is_of(passage_id: str, doc_id: str) -> bool:
    """Whether a passage is the document or a piece of it."""
    return passage_id == doc_id or _PIECE.sub("", passage_id) == doc_id


def _still_finding(retrievals: Sequence[Retrieval], gold: Sequence[str]) -> bool:
    """Whether the last of several retrievals brought gold that none before it had: one more might have, too."""
    *before, last = ({hit.doc_id for hit in retrieval.hits}.intersection(gold) for retrieval in retrievals)
    return bool(before) and bool(last.difference(*before))


_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


def misreading(case: Case) -> str:
    """The class of a wrong answer that was written with all evidence in sight, or of which none is named.

    What an answer claims are its content words that are not the question's; one that only repeats the question invents
    nothing. A passage holds them where it has at least `arena.metrics.answer.SUPPORTED_AT` of them: all of one, two
    or three.
    """
    if not case.record.tells_evidence:
        return "unexplained"
    shown = case.shown
    claimed = _claimed(case)
    if shown is None or not claimed:
        return "reader_miss" if case.gold.supporting_ids else "unexplained"
    if not is_supported(claimed, shown.values()):
        return "hallucination"
    if not case.gold.supporting_ids:
        return "unexplained"
    holding = {doc_id for doc_id, text in shown.items() if is_supported(claimed, (text,))}
    return "shown_but_ignored" if holding and holding.isdisjoint(case.gold.supporting_ids) else "reader_miss"


def is_from_memory(case: Case) -> bool:
    """Whether a right answer stands in nothing that was shown. Of texts that are not known: False."""
    shown = case.shown
    return shown is not None and not any(
        contains(text, case.gold.answers, official=case.gold.official) for text in shown.values()
    )


def _claimed(case: Case) -> frozenset[str]:
    """The answer's content words that are not the question's, whatever their endings."""
    said = content_words(case.record.answer.text or "") if case.record.answer else frozenset()
    asked = set(map(_stem, content_words(case.question.text)))
    return frozenset(word for word in said if _stem(word) not in asked)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


NEARLY_F1 = 0.8
"""Token F1 from which on an answer that is no exact match is the right one in another form.

Of an answer of four words, one may be missing: 2 * 3 / (3 + 4) = 0.86. A name of two words with another first or last
one, 0.5, and a date with another year, 0.67, are wrong.
"""

RIGHT_FROM = 0.5
"""AnswerAccuracy from which on a summary counts as right: partly to both judges, or wholly to one."""


def find_failure(case: Case, scores: Mapping[str, Score], judge_due: bool = False) -> FailureFinding:
    """The class of one question.

    Args:
        case: the record, its gold, and the texts that were shown.
        scores: metric -> score of that record; `answer_em`, `answer_f1`, and of a summary `answer_accuracy` where it
            was judged.
        judge_due: whether a judge was to rate the answers of this run.
    """
    record = case.record
    if record.answer is None:
        return FailureFinding(_fault(record.failure))
    missing = first_missing(case)
    settled = _settled(case, record.answer, missing, scores, judge_due)
    if settled is not None:
        return FailureFinding(settled)
    if allowance_was_spent(record):
        return _finding("stopped_by_cap", missing)
    if record.cell.retrieval_mode == NO_RETRIEVAL_MODE:
        return FailureFinding("not_in_memory")
    if missing is not None:
        return _finding(why_missing(case, missing), missing)
    if record.answer.abstained:
        return FailureFinding("false_abstention" if record.tells_evidence else "unexplained")
    return FailureFinding(misreading(case))


def _fault(failure: Failure | None) -> str:
    if failure is None:
        return "strategy_failed"
    if failure.stage == "strategy":
        return "stopped_by_cap" if failure.type == AllowanceSpent.__name__ else "strategy_failed"
    return "provider_failed" if failure.stage == "model" else "timed_out"


def _settled(
    case: Case, answer: Answer, missing: Missing | None, scores: Mapping[str, Score], judge_due: bool
) -> str | None:
    """The class of what is right or beyond telling; None = it is wrong, and the reason is to be found."""
    writes = answer.abstained or answer.text is not None
    if not writes:
        known = bool(case.gold.supporting_ids) and case.gold.answerable and case.record.tells_evidence
        return "unscored" if not known else "evidence_found" if missing is None else None
    if not case.gold.answerable:
        return "correct_abstention" if answer.abstained else "false_answer"
    if answer.abstained:
        return None
    if case.question.kind == "summary":
        return _judged(scores.get("answer_accuracy"), judge_due)
    if _value(scores, "answer_em") == 1.0:
        unaided = case.record.cell.retrieval_mode != NO_RETRIEVAL_MODE and missing is not None and is_from_memory(case)
        return "answered_without_evidence" if unaided else "correct"
    near = _says_it(case, answer.text or "") or _value(scores, "answer_f1") >= NEARLY_F1
    return "format_only" if near else None


def _says_it(case: Case, text: str) -> bool:
    """Whether a gold answer stands in `text` that does not stand in the question: repeating that answers nothing."""
    official = case.gold.official
    return any(
        contains(text, [gold], official=official) and not contains(case.question.text, [gold], official=official)
        for gold in case.gold.answers
    )


def _judged(accuracy: Score | None, judge_due: bool) -> str | None:
    if accuracy is not None and accuracy.value is not None:
        return "correct" if accuracy.value >= RIGHT_FROM else None
    reason = accuracy.reason if accuracy else None
    due = reason in (JUDGE_FAILED, PARTLY_JUDGED) or (judge_due and not is_undefined(reason))
    return "judge_failed" if due else "unscored"


def _value(scores: Mapping[str, Score], metric: str) -> float:
    """0.0 for a score that is not there."""
    score = scores.get(metric)
    return score.value or 0.0 if score else 0.0


def _finding(failure: str, missing: Missing | None) -> FailureFinding:
    return FailureFinding(failure, missing.hop, missing.doc_id) if missing else FailureFinding(failure)
