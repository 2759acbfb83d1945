"""Statements sent against verdicts that came back.

A judge may leave statements out, repeat some, change their order, contradict itself, or judge what nobody asked about.
Only a verdict of 0 or 1 on a statement that was sent counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from arena.text import sentences as split_sentences
from arena.types import VerdictPart

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
