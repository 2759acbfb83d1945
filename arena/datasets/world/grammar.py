"""The grammar of the world: kinds, relations, sentence templates, the meaning of questions, and the limits of a world.

A template is written once. Filled, it gives a sentence of a passage or a question; inverted, it gives the regular
expression by which the checker reads that sentence back. Slots stand in braces:

    {s}            the thing the passage is about, by name          {short}  a person's last name
    {RELATION}     the value of one of its relations                {he} {his} {him}  pronouns
    {~LIST}        a filler word from the vocabulary; {~year} and {~number} are digits
    {x} {o}        in questions and claims: what is asked about, and the value

A question's meaning is a small expression over the graph, with MuSiQue's name for its shape:

    2hop   Step(Step(Leaf))                        4hop1  Step(Step(Step(Step(Leaf))))
    3hop1  Step(Step(Step(Leaf)))                  4hop2  Step(Step(Meet(Step(Leaf), Step(Leaf))))
    3hop2  Step(Meet(Step(Leaf), Step(Leaf)))      4hop3  Step(Meet(Step(Step(Leaf)), Step(Leaf)))

So in 3hop2 two independent facts feed a third; in 4hop2 that third feeds a fourth; in 4hop3 a chain of two and one
independent fact feed the fourth. A `Meet` and the `Step` above it are read off one document: one hop.

The maker of a world builds to the limits below, and the proof checks them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import Formatter

NAME = r"[A-Z][a-z]+(?: (?:(?:of|to|in|for) )?[A-Z][a-z]+)*"
"""How every name of the world looks; no other capitalised word may stand beside one."""

_FACTLESS = ("s", "short", "he", "his", "him")


class Template:
    """A sentence with slots; see the module's docstring for the slots. `told`: those of a passage that state a fact."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = [(literal, slot) for literal, slot, _, _ in Formatter().parse(text)]
        self.slots: tuple[str, ...] = tuple(slot for _, slot in self._parts if slot is not None)
        self.told = frozenset(slot for slot in self.slots if slot[0] != "~" and slot not in _FACTLESS)
        self.anchor = max((literal for literal, _ in self._parts), key=len)

    def fill(self, value: Callable[[str], str]) -> str:
        """The sentence, each slot replaced by its value."""
        return "".join(literal + (value(slot) if slot is not None else "") for literal, slot in self._parts)

    def invert(self, expression: Callable[[str, bool], str]) -> re.Pattern[str]:
        """The expression that matches exactly the fillings of this template; group `gN` is slot number N.

        `expression` gives what may stand in a slot; its second argument tells whether the slot opens the sentence.
        """
        pieces: list[str] = []
        for number, (literal, slot) in enumerate(self._parts):
            pieces.append(re.escape(literal))
            if slot is not None:
                pieces.append(f"(?P<g{number}>{expression(slot, not any(pieces))})")
        return re.compile("".join(pieces))

    def read(self, match: re.Match[str]) -> list[tuple[str, str]]:
        """The slots of a match of the inverted template and the text found in each, in order."""
        return [(slot, match[f"g{number}"]) for number, (_, slot) in enumerate(self._parts) if slot is not None]


@dataclass(frozen=True)
class Relation:
    """One relation from things of a kind to values of another; every thing has at most one value.

    `value`: a kind of thing, or `year` or `number`. `says`: predicate of a claim, `{o}` the value. `asks`: whole
    questions about `{x}`. `phrases`: noun phrases for the value, to be asked about in turn. `clause`: what singles out
    the thing by its value, for two-argument bridges. `limits`: inclusive range of a number.
    """

    key: str
    value: str
    says: Template
    asks: tuple[Template, ...]
    phrases: tuple[Template, ...] = ()
    clause: Template | None = None
    unit: str | None = None
    limits: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Kind:
    """One kind of thing: its names, its relations, and every sentence its passages are made of.

    `label` introduces a thing in a claim ("the ship "), `article` precedes its name everywhere else, `asked_as` is the
    noun questions use instead of the passages' own. `weight`: how many documents of a hundred are about one, roughly.
    """

    key: str
    label: str
    article: str
    names: tuple[str, ...]
    asked_as: str
    weight: int
    relations: tuple[Relation, ...]
    openings: tuple[Template, ...]
    sentences: tuple[Template, ...]
    fillers: tuple[Template, ...]

    @cached_property
    def by_key(self) -> Mapping[str, Relation]:
        return {relation.key: relation for relation in self.relations}

    @cached_property
    def title_words(self) -> frozenset[str]:
        """The words of a name that come from its shape."""
        return frozenset(word for shape in self.names for word in shape.split())

    @cached_property
    def clauses(self) -> tuple[Relation, ...]:
        """The relations that can take part in a two-argument bridge."""
        return tuple(relation for relation in self.relations if relation.clause is not None)


def capitalised(text: str) -> str:
    """The text with its first letter in upper case, the rest as it is."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A thing the question names."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """The value of a relation (`KIND.RELATION`) of something."""

    relation: str
    of: Query


@dataclass(frozen=True, slots=True)
class Meet:
    """The one thing for which two relations have the given values."""

    first: Step
    second: Step


Query = Leaf | Step | Meet

SHAPES: dict[str, tuple[int, ...]] = {
    "2hop": (2,),
    "3hop1": (3,),
    "3hop2": (1, 1, 1),
    "4hop1": (4,),
    "4hop2": (1, 1, 2),
    "4hop3": (2, 1, 1),
}
"""Steps of the chain, or of the first arm, the second arm and the stem above their meeting."""


def profile(query: Query) -> tuple[int, ...]:
    """The value by which `SHAPES` knows a query; `(1,)` for a single fact."""
    stem = 0
    while isinstance(query, Step):
        stem, query = stem + 1, query.of
    if isinstance(query, Leaf):
        return (stem,)
    return (*profile(query.first.of), *profile(query.second.of), stem)


def signature(query: Query) -> tuple[object, ...]:
    """The relations of a query without its names: equal for twins."""
    if isinstance(query, Leaf):
        return ()
    if isinstance(query, Step):
        return (query.relation, signature(query.of))
    return ("meet", signature(query.first), signature(query.second))


def innermost(query: Step) -> Step:
    """The step that is asked of a named thing or of a meeting."""
    while isinstance(query.of, Step):
        query = query.of
    return query


def names_in(query: Query) -> tuple[str, ...]:
    """The names a question about the query contains, from left to right."""
    if isinstance(query, Leaf):
        return (query.name,)
    if isinstance(query, Step):
        return names_in(query.of)
    return (*names_in(query.first), *names_in(query.second))


PASSAGE_WORDS = (40, 140)
"""Fewest and most words of a passage."""

SUMMARY_DOCUMENTS = 5
"""Documents that speak of the subject of a summary, no more and no fewer."""

REFERENCE_WORDS = (80, 120)
"""Fewest and most words of a reference account."""

HOMONYM_KINDS = 6
"""Kinds of thing that bear the same title."""

DOCUMENTS_PER_HOMONYM = 120
"""One such title for every so many documents."""

KIND_SHARES: Mapping[str, int] = {"multi_hop": 36, "single_hop": 9, "summary": 6, "unanswerable": 9}
"""Kinds of question in every sixty."""

SHAPE_SHARES: Mapping[str, int] = {
    "2hop": 1252,
    "3hop1": 568,
    "3hop2": 192,
    "4hop1": 246,
    "4hop2": 64,
    "4hop3": 95,
}
"""Counts in MuSiQue's development set: 52, 31 and 17 % of two, three and four hops."""
