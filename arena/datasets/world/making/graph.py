"""The knowledge graph behind the passages: things of every kind and the facts that join them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from arena.datasets.world.grammar import Kind, Relation
from arena.datasets.world.lexicon import KINDS
from arena.datasets.world.making.apportion import apportion
from arena.datasets.world.making.chronology import date_facts
from arena.datasets.world.making.names import Namer, core_word
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.promises import DOCUMENTS_PER_HOMONYM, HOMONYM_KINDS, SUMMARY_DOCUMENTS

KIND_WEIGHTS: Mapping[str, int] = {
    "person": 18,
    "town": 12,
    "river": 7,
    "mountain": 6,
    "ship": 9,
    "guild": 8,
    "album": 7,
    "novel": 7,
    "school": 6,
    "treaty": 6,
    "instrument": 5,
    "festival": 6,
    "bridge": 6,
}
"""How many documents of a hundred are about each kind, roughly."""

SUBJECT_KINDS = ("person", "town")
"""What summaries are about."""

_GHOST_SHARE = 0.06
_GHOST_MENTION = 0.07
_OMITTED = 0.06
_SHARING = 2.4
_NAMED_AFTER = 0.6


class ExhaustedError(Exception):
    """This graph cannot carry what is asked of it; another draw may."""


@dataclass(frozen=True)
class Graph:
    """Things with a document, in no telling order, and the subjects of the summaries among them.

    `pointing_at` lists, for a thing, who has a fact with it as value and by which relation; ghosts included.
    """

    things: tuple[Thing, ...]
    subjects: tuple[Thing, ...]
    ghosts: tuple[Thing, ...]
    pointing_at: Mapping[Thing, Sequence[tuple[Thing, Relation]]]


def build_graph(documents: int, summaries: int, rng: Random) -> Graph:
    """Draw a graph of `documents` things; five documents, no more, speak of each of `summaries` subjects.

    Raises:
        ExhaustedError: too few things are left to speak of a subject.
    """
    things, ghosts = _name_things(documents, rng)
    subjects = _choose_subjects(things, summaries, rng)
    for kind in KINDS.values():
        for relation in kind.relations:
            if relation.value != "year":
                _draw_values(things, ghosts, subjects, kind, relation, rng)
    _point_at_subjects(things, subjects, rng)
    date_facts(things, _OMITTED, rng)
    ordered = [thing for group in things.values() for thing in group]
    rng.shuffle(ordered)
    pointing_at: dict[Thing, list[tuple[Thing, Relation]]] = defaultdict(list)
    for thing in ordered:
        for key, value in thing.facts.items():
            if isinstance(value, Thing):
                pointing_at[value].append((thing, thing.kind.by_key[key]))
    unseen = [ghost for group in ghosts.values() for ghost in group if ghost in pointing_at]
    return Graph(tuple(ordered), tuple(subjects), tuple(unseen), pointing_at)


def _name_things(documents: int, rng: Random) -> tuple[dict[str, list[Thing]], dict[str, list[Thing]]]:
    namer = Namer(rng)
    counts = apportion(documents, KIND_WEIGHTS, at_least=1)
    things: dict[str, list[Thing]] = {key: [] for key in KINDS}
    for _ in range(documents // DOCUMENTS_PER_HOMONYM):
        title = namer.shared_title()
        for key in sorted(rng.sample(sorted(KINDS), HOMONYM_KINDS)):
            if namer.claim(KINDS[key], title):
                things[key].append(Thing(KINDS[key], title))
    for key, kind in KINDS.items():
        things[key] += [Thing(kind, namer.name(kind)) for _ in range(counts[key] - len(things[key]))]
    ghosts = {
        key: [Thing(kind, namer.name(kind), ghost=True) for _ in range(max(1, round(_GHOST_SHARE * counts[key])))]
        for key, kind in KINDS.items()
    }
    return things, ghosts


def _choose_subjects(things: dict[str, list[Thing]], summaries: int, rng: Random) -> list[Thing]:
    titles: dict[str, int] = defaultdict(int)
    for group in things.values():
        for thing in group:
            titles[thing.name] += 1
    counts = apportion(summaries, {key: 1 for key in SUBJECT_KINDS})
    return [
        subject
        for key in SUBJECT_KINDS
        for subject in rng.sample([thing for thing in things[key] if titles[thing.name] == 1], counts[key])
    ]


def _draw_values(
    things: dict[str, list[Thing]],
    ghosts: dict[str, list[Thing]],
    subjects: Sequence[Thing],
    kind: Kind,
    relation: Relation,
    rng: Random,
) -> None:
    """Give most things of a kind a value. Several share one, so that a single fact rarely singles a thing out."""
    holders = [thing for thing in things[kind.key] if rng.random() >= _OMITTED]
    if relation.value == "number":
        for thing in holders:
            thing.facts[relation.key] = rng.randint(*relation.limits)
        return
    reserved = set(subjects)
    free = [thing for thing in things[relation.value] if thing not in reserved]
    namesakes: dict[str, list[Thing]] = defaultdict(list)
    for thing in free:
        namesakes[core_word(thing.kind, thing.name)].append(thing)
    pool = rng.sample(free, min(len(free), max(1, round(len(holders) / _SHARING))))
    rank = {thing: place for place, thing in enumerate(things[kind.key])}
    for thing in holders:
        kin = namesakes.get(core_word(kind, thing.name)) if rng.random() < _NAMED_AFTER else None
        options = kin or pool
        if relation.value == kind.key:
            # Later things only, so that nobody teaches his own teacher and no river runs in a circle.
            options = [other for other in options if rank[other] > rank[thing]]
        if not options or rng.random() < _GHOST_MENTION:
            options = ghosts[relation.value]
        thing.facts[relation.key] = rng.choice(options)


def _point_at_subjects(things: dict[str, list[Thing]], subjects: Sequence[Thing], rng: Random) -> None:
    """Make exactly four other documents, of four kinds, speak of each subject; no document serves two."""
    used = set(subjects)
    for subject in subjects:
        routes = [
            (kind, relation)
            for kind in KINDS.values()
            for relation in kind.relations
            if relation.value == subject.kind.key and kind is not subject.kind
        ]
        rng.shuffle(routes)
        chosen: list[Kind] = []
        for kind, relation in routes:
            free = [thing for thing in things[kind.key] if thing not in used]
            if free and kind not in chosen and len(chosen) < SUMMARY_DOCUMENTS - 1:
                thing = rng.choice(free)
                thing.facts[relation.key] = subject
                used.add(thing)
                chosen.append(kind)
        if len(chosen) < SUMMARY_DOCUMENTS - 1:
            raise ExhaustedError("summary")
