"""Reading passages back: from text to facts, by the inverse of the sentence templates.

Nothing here knows what the generator had in mind. A sentence that no template explains, or that two explain
differently, is reported and not skipped: what is not understood might state anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from arena.datasets.world.grammar import NAME, Kind, Template, capitalised
from arena.datasets.world.lexicon import KINDS
from arena.datasets.world.lexicon.vocabulary import VOCABULARY
from arena.types import Document


@dataclass(frozen=True, slots=True)
class Fact:
    """That a thing has a value for a relation (`KIND.RELATION`), by the word of one document."""

    subject: str
    relation: str
    value: str
    doc_id: str


@dataclass(frozen=True, slots=True)
class Reading:
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
    anchor: str


def read_document(document: Document) -> Reading:
    """All facts a document states, about its own subject or any other.

    The kind of its subject is told by its opening, which must name the title.
    """
    sentences = document.text.removesuffix(".").split(". ")
    kind = next(
        (pattern.kind for pattern, said in _matches(sentences[0], None) if said.get("s") == document.title), None
    )
    if kind is None:
        return Reading(
            document.title,
            None,
            (),
            (f"{document.doc_id}: the opening {sentences[0]!r} introduces no {document.title!r}",),
        )
    facts: list[Fact] = []
    problems: list[str] = []
    for sentence in sentences:
        readings = {_facts(pattern, said, document) for pattern, said in _matches(sentence, kind)}
        readings = {reading for reading in readings if reading is not None}
        if len(readings) == 1:
            facts += readings.pop() or ()
        else:
            problems.append(f"{document.doc_id}: {len(readings)} readings of the sentence {sentence!r}")
    return Reading(document.title, kind.key, tuple(facts), tuple(problems))


def _matches(sentence: str, kind: Kind | None) -> Iterator[tuple[_Pattern, dict[str, str]]]:
    """The templates that explain a sentence: any opening, and every other sentence about a thing of that kind."""
    for pattern in (*_openings(), *(_sentences(kind.key) if kind else ())):
        if pattern.anchor in sentence and (match := pattern.expression.fullmatch(sentence)):
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
    return tuple(_pattern(kind, template) for kind in KINDS.values() for template in kind.opening_templates)


@cache
def _sentences(kind: str) -> tuple[_Pattern, ...]:
    own = KINDS[kind]
    return tuple(_pattern(own, template) for template in (*own.sentence_templates, *own.filler_templates))


def _pattern(kind: Kind, template: Template) -> _Pattern:
    expression = template.invert(lambda slot, at_start: slot_expression(kind, slot, at_start))
    return _Pattern(kind, template, expression, template.anchor)


def slot_expression(kind: Kind, slot: str, at_start: bool = False) -> str:
    """What may stand in a slot of a sentence about a thing of a kind."""
    if slot == "s":
        return name_expression(kind, at_start)
    if slot in kind.by_key:
        return value_expression(kind.by_key[slot].value, at_start)
    if slot in ("~year", "~number"):
        return r"\d+"
    words = {"short": ("[A-Z][a-z]+",), "he": ("he", "she"), "his": ("his", "her"), "him": ("him", "her")}.get(slot)
    options = words or VOCABULARY[slot[1:]]
    return f"(?:{'|'.join(capitalised(option) if at_start else option for option in options)})"


def value_expression(value: str, at_start: bool = False) -> str:
    """How a value is written: digits, or a name with the article of its kind."""
    if value == "year":
        return r"\d{4}"
    return r"\d+" if value == "number" else name_expression(KINDS[value], at_start)


def name_expression(kind: Kind, at_start: bool = False) -> str:
    """How the name of a thing of a kind stands in running text."""
    return f"{capitalised(kind.article) if at_start else kind.article}{NAME}"
