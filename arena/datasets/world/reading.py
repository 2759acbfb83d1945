"""Read passages, questions and claims back into facts and queries, by the inverse of their templates.

Nothing here knows what the generator had in mind. A sentence that no template explains, or that two explain
differently, is reported and not skipped: it might state anything. A question is read in every way it can be taken.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from arena.datasets.world.grammar import (
    DOCUMENTS_PER_HOMONYM,
    HOMONYM_KINDS,
    NAME,
    PASSAGE_WORDS,
    Kind,
    Leaf,
    Meet,
    Query,
    Relation,
    Step,
    Template,
    capitalised,
)
from arena.datasets.world.lexicon import lexicon
from arena.types import Document


@dataclass(frozen=True, slots=True)
class Fact:
    """That a thing has a value for a relation (`KIND.RELATION`), by the word of one document."""

    subject: str
    relation: str
    value: str
    doc_id: str


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """What one document says. `kind` of its subject is None when its opening was not understood."""

    title: str
    kind: str | None
    facts: tuple[Fact, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: Kind
    template: Template
    expression: re.Pattern[str]


def read_document(document: Document) -> DocumentReading:
    """All facts a document states, about its own subject or any other.

    The kind of its subject is told by its opening, which must name the title.
    """
    sentences = document.text.removesuffix(".").split(". ")
    kind = next(
        (pattern.kind for pattern, said in _matches(sentences[0], None) if said.get("s") == document.title), None
    )
    if kind is None:
        problem = f"{document.doc_id}: the opening {sentences[0]!r} introduces no {document.title!r}"
        return DocumentReading(document.title, None, (), (problem,))
    facts: list[Fact] = []
    problems: list[str] = []
    for sentence in sentences:
        readings = {_facts(pattern, said, document) for pattern, said in _matches(sentence, kind)} - {None}
        if len(readings) == 1:
            facts += readings.pop() or ()
        else:
            problems.append(f"{document.doc_id}: {len(readings)} readings of the sentence {sentence!r}")
    return DocumentReading(document.title, kind.key, tuple(facts), tuple(problems))


def _matches(sentence: str, kind: Kind | None) -> Iterator[tuple[_Pattern, dict[str, str]]]:
    """The templates that explain a sentence: any opening, and every other sentence about a thing of that kind."""
    for pattern in (*_openings(), *(_sentences(kind.key) if kind else ())):
        # The longest literal first: looking for it costs far less than trying the expression.
        if pattern.template.anchor in sentence and (match := pattern.expression.fullmatch(sentence)):
            yield pattern, {slot: _bare(text) for slot, text in pattern.template.read(match)}


def _facts(pattern: _Pattern, said: Mapping[str, str], document: Document) -> tuple[Fact, ...] | None:
    """The facts in a matched sentence; None when it is about somebody else by a last name."""
    subject = said.get("s", document.title)
    if said.get("short", subject.rpartition(" ")[2]) != subject.rpartition(" ")[2]:
        return None
    return tuple(
        Fact(subject, f"{pattern.kind.key}.{slot}", text, document.doc_id)
        for slot, text in said.items()
        if slot in pattern.kind.by_key
    )


def _bare(text: str) -> str:
    return re.sub(r"^[Tt]he (?=[A-Z])", "", text)


@cache
def _openings() -> tuple[_Pattern, ...]:
    return tuple(_pattern(kind, template) for kind in lexicon().kinds.values() for template in kind.openings)


@cache
def _sentences(kind: str) -> tuple[_Pattern, ...]:
    own = lexicon().kinds[kind]
    return tuple(_pattern(own, template) for template in (*own.sentences, *own.fillers))


def _pattern(kind: Kind, template: Template) -> _Pattern:
    expression = template.invert(lambda slot, at_start: slot_expression(kind, slot, at_start))
    return _Pattern(kind, template, expression)


def slot_expression(kind: Kind, slot: str, at_start: bool = False) -> str:
    """What may stand in a slot of a sentence about a thing of a kind."""
    if slot == "s":
        return name_expression(kind, at_start)
    if slot in kind.by_key:
        return value_expression(kind.by_key[slot].value, at_start)
    if slot in ("~year", "~number"):
        return r"\d+"
    words = {"short": ("[A-Z][a-z]+",), "he": ("he", "she"), "his": ("his", "her"), "him": ("him", "her")}.get(slot)
    options = words or lexicon().vocabulary[slot[1:]]
    return f"(?:{'|'.join(capitalised(option) if at_start else option for option in options)})"


def value_expression(value: str, at_start: bool = False) -> str:
    """How a value is written: digits, or a name with the article of its kind."""
    if value == "year":
        return r"\d{4}"
    return r"\d+" if value == "number" else name_expression(lexicon().kinds[value], at_start)


def name_expression(kind: Kind, at_start: bool = False) -> str:
    """How the name of a thing of a kind stands in running text."""
    return f"{capitalised(kind.article) if at_start else kind.article}{NAME}"


_ENDS = tuple[str, str]


def understand(question: str) -> list[Step]:
    """Every query the question can mean; exactly one in a sound world, none when it is not understood."""
    return [
        Step(key, inner)
        for key, relation in lexicon().relations.items()
        for ask in relation.asks
        if (argument := _between(question, _ends(ask.text))) is not None
        for inner in _phrases(argument, lexicon().kinds[key.partition(".")[0]])
    ]


def understand_summary(question: str) -> list[tuple[Leaf, tuple[str, ...]]]:
    """Every thing whose account the question can be asking for, and the kinds of thing it wants included."""
    nouns = {kind.asked_as: kind.key for kind in lexicon().kinds.values()}
    readings = []
    for request in lexicon().summary_requests:
        match = request.invert(lambda _, __: ".+").fullmatch(question)
        subject, themes = match.groups() if match else ("", "")
        kinds = tuple(nouns.get(noun.removeprefix("a "), "") for noun in re.split(", | and ", themes))
        readings += [
            (Leaf(kind.key, subject.removeprefix(kind.label)), kinds)
            for kind in lexicon().kinds.values()
            if subject.startswith(kind.label) and re.fullmatch(NAME, subject.removeprefix(kind.label))
        ]
    return readings


def understand_claim(claim: str) -> list[tuple[Leaf, tuple[tuple[str, str], ...]]]:
    """Every thing a claim can be about, with the pairs of relation and value it states; empty when not understood."""
    readings = []
    for kind in lexicon().kinds.values():
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
            for inner in _phrases(argument, lexicon().kinds[key.partition(".")[0]]):
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
    for relation in kind.relations:
        if relation.clause and (argument := _between(text, _ends(relation.clause.text))) is not None:
            for inner in _phrases(argument, lexicon().kinds[relation.value]):
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
        (key, _ends(phrase.text))
        for key, relation in lexicon().relations.items()
        if relation.value == kind
        for phrase in relation.phrases
    )


@cache
def _predicates(kind: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((relation.key, _predicate(relation)) for relation in lexicon().kinds[kind].relations)


def _predicate(relation: Relation) -> re.Pattern[str]:
    return relation.says.invert(lambda _, at_start: value_expression(relation.value, at_start))


_T = TypeVar("_T", bound=Hashable)


def check_passages(documents: Sequence[Document], readings: Sequence[DocumentReading]) -> Iterator[str]:
    """Unique ids and texts, understood sentences, passage lengths, no fact told twice, enough shared titles.

    `readings` belong to `documents`, in the same order.
    """
    yield from (f"{doc_id}: the id is used {n} times" for doc_id, n in _repeated(d.doc_id for d in documents))
    yield from (f"{title!r}: {n} equal passages" for (title, _), n in _repeated((d.title, d.text) for d in documents))
    for document, reading in zip(documents, readings, strict=True):
        yield from reading.problems
        words = len(document.text.split())
        if not PASSAGE_WORDS[0] <= words <= PASSAGE_WORDS[1]:
            yield f"{document.doc_id}: {words} words"
    told = Counter((fact.relation, fact.subject) for reading in readings for fact in reading.facts)
    yield from (f"{relation} of {subject!r} is told {n} times" for (relation, subject), n in told.items() if n > 1)
    yield from _check_homonyms(documents, readings)


def _check_homonyms(documents: Sequence[Document], readings: Sequence[DocumentReading]) -> Iterator[str]:
    kinds: dict[str, set[str]] = defaultdict(set)
    for document, reading in zip(documents, readings, strict=True):
        if reading.kind is not None:
            if reading.kind in kinds[document.title]:
                yield f"{document.doc_id}: a second {reading.kind} is called {document.title!r}"
            kinds[document.title].add(reading.kind)
    shared = sum(len(bearers) >= HOMONYM_KINDS for bearers in kinds.values())
    wanted = len(documents) // DOCUMENTS_PER_HOMONYM
    if shared < wanted:
        yield f"{shared} titles are shared by {HOMONYM_KINDS} kinds, not {wanted}"


def _repeated(items: Iterator[_T]) -> list[tuple[_T, int]]:
    return [(item, count) for item, count in Counter(items).items() if count > 1]
