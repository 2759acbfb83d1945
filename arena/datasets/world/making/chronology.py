"""Dating the facts of a graph so that no one acts before being born or learns from a younger master."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from arena.datasets.world.lexicon import KINDS
from arena.datasets.world.making.thing import Thing

YEARS = (1640, 1890)
"""First and last year of what no dated person has a hand in."""

_FIRST_BIRTHS = (1620, 1740)
_LAST_BIRTH = 1850
_GENERATION = (18, 30)
_AFTER_BIRTH = (26, 58)
_LONG_AFTER_BIRTH: Mapping[str, tuple[int, int]] = {"town.charter": (60, 110), "festival.first": (60, 110)}


def date_facts(things: Mapping[str, Sequence[Thing]], omitted: float, rng: Random) -> None:
    """Give things their years, `omitted` of them left out. A mentor stands behind his pupils in the list of people.

    A line of masters and pupils that would outrun the last births is cut there.
    """
    born: dict[Thing, int] = {}
    for person in reversed(things["person"]):
        mentor = person.facts.get("mentor")
        if not isinstance(mentor, Thing) or mentor.ghost:
            born[person] = rng.randint(*_FIRST_BIRTHS)
            continue
        born[person] = born[mentor] + rng.randint(*_GENERATION)
        if born[person] > _LAST_BIRTH:
            born[person] = rng.randint(*_FIRST_BIRTHS)
            del person.facts["mentor"]
    for kind in KINDS.values():
        for relation in kind.relations:
            if relation.value == "year":
                for thing in things[kind.key]:
                    if rng.random() >= omitted:
                        after = _LONG_AFTER_BIRTH.get(f"{kind.key}.{relation.key}", _AFTER_BIRTH)
                        thing.facts[relation.key] = born[thing] if thing in born else _year(thing, born, after, rng)


def _year(thing: Thing, born: Mapping[Thing, int], after: tuple[int, int], rng: Random) -> int:
    births = [born[value] for value in thing.facts.values() if isinstance(value, Thing) and value in born]
    return births[0] + rng.randint(*after) if births else rng.randint(*YEARS)
