"""Turning the facts of one thing into a passage of 40 to 140 words."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from arena.datasets.world.grammar import Template, capitalised
from arena.datasets.world.lexicon.vocabulary import VOCABULARY
from arena.datasets.world.making.chronology import YEARS
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.promises import PASSAGE_WORDS

_TARGET_WORDS = (58, 112)
_SENTENCE_ROOM = 24
_PRONOUNS: tuple[Mapping[str, str], ...] = (
    {"he": "he", "his": "his", "him": "him"},
    {"he": "she", "his": "her", "him": "her"},
)


def passage(thing: Thing, rng: Random) -> str:
    """A text that states every fact of the thing exactly once, among filler, and nothing else of the graph."""
    pronouns = rng.choice(_PRONOUNS)
    templates = _facts_told(thing, rng)
    sentences = [_sentence(template, thing, pronouns, rng) for template in templates]
    target = rng.randint(*_TARGET_WORDS)
    fillers = rng.sample(thing.kind.filler_templates, len(thing.kind.filler_templates))
    words = sum(len(sentence.split()) for sentence in sentences)
    while fillers and words < min(target, PASSAGE_WORDS[1] - _SENTENCE_ROOM):
        sentence = _sentence(fillers.pop(), thing, pronouns, rng)
        sentences.insert(rng.randint(1, len(sentences)), sentence)
        words += len(sentence.split())
    return " ".join(f"{sentence}." for sentence in sentences)


def running_name(value: Thing | int) -> str:
    """A value as it stands in running text: digits, or a name with its article."""
    return str(value) if isinstance(value, int) else f"{value.kind.article}{value.name}"


def _facts_told(thing: Thing, rng: Random) -> list[Template]:
    """An opening and sentences that between them state each fact once."""
    untold = set(thing.facts)
    told: list[Template] = []
    options = thing.kind.opening_templates
    while not told or untold:
        fitting = [template for template in options if _tells(template, untold, opening=not told)]
        template = rng.choice(fitting)
        untold.difference_update(template.slots)
        told.append(template)
        options = thing.kind.sentence_templates
    return [told[0], *rng.sample(told[1:], len(told) - 1)]


def _tells(template: Template, untold: set[str], *, opening: bool) -> bool:
    relations = [slot for slot in template.slots if slot[0] not in "~" and slot not in ("s", "short", *_PRONOUNS[0])]
    return (opening or bool(relations)) and untold.issuperset(relations)


def _sentence(template: Template, thing: Thing, pronouns: Mapping[str, str], rng: Random) -> str:
    def value(slot: str) -> str:
        if slot in thing.facts:
            return running_name(thing.facts[slot])
        if slot in pronouns:
            return pronouns[slot]
        if slot == "s":
            return running_name(thing)
        if slot == "short":
            return thing.name.rpartition(" ")[2]
        return _filler_word(slot[1:], _own_year(thing), rng)

    return capitalised(template.fill(value))


def _own_year(thing: Thing) -> int | None:
    years = [
        thing.facts[relation.key]
        for relation in thing.kind.relations
        if relation.value == "year" and relation.key in thing.facts
    ]
    return next((year for year in years if isinstance(year, int)), None)


def _filler_word(vocabulary: str, own_year: int | None, rng: Random) -> str:
    """A word of a list; a year comes some decades after the thing's own."""
    if vocabulary == "year":
        return str(rng.randint(*YEARS) if own_year is None else own_year + rng.randint(18, 60))
    if vocabulary == "number":
        return str(rng.randint(40, 900))
    return rng.choice(VOCABULARY[vocabulary])
