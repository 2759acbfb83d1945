"""Reading questions and claims back: the inverse of their wording, every way it can be taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from arena.datasets.world.grammar import NAME, Kind, Relation, Template, capitalised
from arena.datasets.world.lexicon import KINDS, RELATIONS
from arena.datasets.world.lexicon.requests import SUMMARY_REQUESTS
from arena.datasets.world.proof.reading import value_expression
from arena.datasets.world.query import Leaf, Meet, Query, Step

_ENDS = tuple[str, str]


def understand(question: str) -> list[Step]:
    """Every query the question can mean; exactly one in a sound world, none when it is not understood."""
    return [
        Step(key, inner)
        for key, relation in RELATIONS.items()
        for ask in relation.asks
        if (argument := _between(question, _ends(ask))) is not None
        for inner in _phrases(argument, KINDS[key.partition(".")[0]])
    ]


def understand_summary(question: str) -> list[tuple[Leaf, tuple[str, ...]]]:
    """Every thing whose account the question can be asking for, and the kinds of thing it wants included."""
    nouns = {kind.asked_as: kind.key for kind in KINDS.values()}
    readings = []
    for request in SUMMARY_REQUESTS:
        match = Template(request).invert(lambda _, __: ".+").fullmatch(question)
        subject, themes = match.groups() if match else ("", "")
        kinds = tuple(nouns.get(noun.removeprefix("a "), "") for noun in re.split(", | and ", themes))
        readings += [
            (Leaf(kind.key, subject.removeprefix(kind.label)), kinds)
            for kind in KINDS.values()
            if subject.startswith(kind.label) and re.fullmatch(NAME, subject.removeprefix(kind.label))
        ]
    return readings


def understand_claim(claim: str) -> list[tuple[Leaf, tuple[tuple[str, str], ...]]]:
    """Every thing a claim can be about, with the pairs of relation and value it states; empty when not understood."""
    readings = []
    for kind in KINDS.values():
        match = re.fullmatch(f"{re.escape(capitalised(kind.label))}({NAME}) ([a-z].*)\\.", claim)
        predicates = re.split(r", | and ", match[2]) if match else []
        stated = [_stated(kind, predicate) for predicate in predicates]
        if match and all(len(options) == 1 for options in stated):
            readings.append((Leaf(kind.key, match[1]), tuple(options[0] for options in stated)))
    return readings


def _stated(kind: Kind, predicate: str) -> list[tuple[str, str]]:
    return [
        (f"{kind.key}.{key}", match[1].removeprefix("the "))
        for key, expression in _predicates(kind.key)
        if (match := expression.fullmatch(predicate))
    ]


def _phrases(text: str, kind: Kind) -> Iterator[Query]:
    """Every reading of a noun phrase for a thing of a kind."""
    name = text.removeprefix(kind.article)
    if text.startswith(kind.article) and re.fullmatch(NAME, name):
        yield Leaf(kind.key, name)
    for key, ends in _phrase_ends(kind.key):
        if (argument := _between(text, ends)) is not None:
            for inner in _phrases(argument, KINDS[key.partition(".")[0]]):
                yield Step(key, inner)
    if kind.clauses and text.startswith(start := f"the {kind.asked_as} "):
        yield from _meetings(text.removeprefix(start), kind)


def _meetings(text: str, kind: Kind) -> Iterator[Meet]:
    for place in (match.start() for match in re.finditer(" and ", text)):
        firsts = list(_clauses(text[:place], kind))
        for second in _clauses(text[place + len(" and ") :], kind) if firsts else ():
            for first in firsts:
                yield Meet(first, second)


def _clauses(text: str, kind: Kind) -> Iterator[Step]:
    for relation in kind.clauses:
        argument = _between(text, _ends(relation.clause or ""))
        if argument is not None:
            for inner in _phrases(argument, KINDS[relation.value]):
                yield Step(f"{kind.key}.{relation.key}", inner)


def _between(text: str, ends: _ENDS) -> str | None:
    before, after = ends
    if len(text) > len(before) + len(after) and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None


@cache
def _ends(template: str) -> _ENDS:
    before, _, after = template.partition("{x}")
    return before, after


@cache
def _phrase_ends(kind: str) -> tuple[tuple[str, _ENDS], ...]:
    return tuple(
        (key, _ends(phrase))
        for key, relation in RELATIONS.items()
        if relation.value == kind
        for phrase in relation.phrases
    )


@cache
def _predicates(kind: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((relation.key, _predicate(relation)) for relation in KINDS[kind].relations)


def _predicate(relation: Relation) -> re.Pattern[str]:
    return Template(relation.says).invert(lambda _, at_start: value_expression(relation.value, at_start))
