"""What training and test questions must not share: ids, wording, single-hop sub-questions, supporting paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.datasets.musique import official_id
from arena.metrics.answer import any_script_normalised
from arena.types import Gold, Question

Reason = Literal["a test question itself", "same wording", "shared sub-question", "shared paragraph"]
Link = tuple[Reason, str]

_COMPOSED = re.compile(r"^[2-4]hop\d?__(?P<parts>\d+(?:_\d+)+)")
"""MuSiQue's ids, which name the single-hop questions that a question was composed of."""


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Candidates for training: those that may be trained on, and by id why the others may not, all reasons given."""

    kept: tuple[Question, ...]
    out: Mapping[str, tuple[Reason, ...]]

    @property
    def counts(self) -> Mapping[Reason, int]:
        """How many were kept out for a reason; one with two reasons counts twice."""
        return Counter(reason for reasons in self.out.values() for reason in reasons)


def links(question: Question, gold: Gold) -> Iterator[Link]:
    """All by which a question hangs together with others: two that have one in common are not independent."""
    question_id = official_id(question.question_id)
    yield "a test question itself", question_id
    yield "same wording", any_script_normalised(question.text)
    composed = _COMPOSED.match(question_id)
    for part in composed["parts"].split("_") if composed else ():
        yield "shared sub-question", part
    for doc_id in dict.fromkeys((*gold.supporting_ids, *(gold.hop_order or ()))):
        yield "shared paragraph", doc_id


def keep_apart(candidates: Sequence[Question], test: Iterable[Question], gold: Mapping[str, Gold]) -> KeptApart:
    """Part `candidates` by whether they share anything with a `test` question."""
    tested = {link for question in test for link in links(question, gold[question.question_id])}
    kept: list[Question] = []
    out: dict[str, tuple[Reason, ...]] = {}
    for question in candidates:
        shared = dict.fromkeys(one[0] for one in links(question, gold[question.question_id]) if one in tested)
        if shared:
            out[question.question_id] = tuple(shared)
        else:
            kept.append(question)
    return KeptApart(tuple(kept), out)


def families(questions: Sequence[Question], gold: Mapping[str, Gold]) -> list[int]:
    """For each question the number of its family; questions that share anything, at any remove, are of one family.

    Families are numbered from 0 in the order of their first question.
    """
    root = list(range(len(questions)))

    def top(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    first: dict[Link, int] = {}
    for place, question in enumerate(questions):
        for link in links(question, gold[question.question_id]):
            one, two = sorted((top(place), top(first.setdefault(link, place))))
            root[two] = one
    numbers: dict[int, int] = {}
    return [numbers.setdefault(top(place), len(numbers)) for place in range(len(questions))]
