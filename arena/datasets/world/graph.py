"""Build the knowledge graph behind the passages: things with invented names, dated facts that join them.

Names come from a phonotactic word maker, so that no one has ever borne them. Dates are such that no one acts before
being born or learns from a younger master.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from arena.datasets.world.grammar import DOCUMENTS_PER_HOMONYM, HOMONYM_KINDS, SUMMARY_DOCUMENTS, Kind, Relation
from arena.datasets.world.lexicon import lexicon


@dataclass(eq=False, slots=True)
class Thing:
    """One entity. `facts` maps a relation's key to a thing or a number; a ghost is named but has no document."""

    kind: Kind
    name: str
    ghost: bool = False
    facts: dict[str, Thing | int] = field(default_factory=dict)


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
    for person in reversed(things["person"]):  # masters before their pupils
        mentor = person.facts.get("mentor")
        if not isinstance(mentor, Thing) or mentor.ghost:
            born[person] = rng.randint(*_FIRST_BIRTHS)
            continue
        born[person] = born[mentor] + rng.randint(*_GENERATION)
        if born[person] > _LAST_BIRTH:
            born[person] = rng.randint(*_FIRST_BIRTHS)
            del person.facts["mentor"]
    for kind in lexicon().kinds.values():
        for relation in kind.relations:
            if relation.value == "year":
                for thing in things[kind.key]:
                    if rng.random() >= omitted:
                        after = _LONG_AFTER_BIRTH.get(f"{kind.key}.{relation.key}", _AFTER_BIRTH)
                        thing.facts[relation.key] = born[thing] if thing in born else _year(thing, born, after, rng)


def _year(thing: Thing, born: Mapping[Thing, int], after: tuple[int, int], rng: Random) -> int:
    births = [born[value] for value in thing.facts.values() if isinstance(value, Thing) and value in born]
    return births[0] + rng.randint(*after) if births else rng.randint(*YEARS)


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ONSETS = _listed("b br c ch d dr f fl g gl gr h j k kl l m n p pr qu r s sk sl st t th tr v w y z")
_NUCLEI = _listed("a e i o u ae ei ia oa ou")
_MIDDLES = _listed("b d dr g l ld lm ln m mb n nd nth r rd rl rn rth s sk st t v vr z")
_CODAS = _listed("l ld m n nd nt r rn rth s sk ss st th x")
_SECOND_WORDS = _listed("Vale Hollow Marsh Ember Lark Thorne Moor Wick Ashe Fenn Heath Locke Rowe Stroud Wilde Hale")

_REUSED = 0.45
_KIN = 0.4


class Namer:
    """Hands out names, each at most once for things of one kind.

    Names often take up a word that another name already has, so that near-identical names are common.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._made: set[str] = set()
        self._words: list[str] = []
        self._families: list[str] = []
        self._taken: set[tuple[str, str]] = set()

    def fresh_word(self) -> str:
        """A capitalised word never handed out before and not in the list of known words."""
        rng = self._rng
        while True:
            word = rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_MIDDLES) + rng.choice(_NUCLEI)
            word += rng.choice(_CODAS) if rng.random() < 0.7 else ""
            if word not in self._made and word not in lexicon().known_words:
                self._made.add(word)
                return word.capitalize()

    def name(self, kind: Kind) -> str:
        """A name in one of the kind's shapes."""
        while True:
            shape = self._rng.choice(kind.names)
            name = self._person() if "{given}" in shape else shape.format(word=self._word())
            if self.claim(kind, name):
                return name

    def claim(self, kind: Kind, name: str) -> bool:
        """Whether the name was still free for this kind; it no longer is."""
        if (kind.key, name) in self._taken:
            return False
        self._taken.add((kind.key, name))
        return True

    def _word(self) -> str:
        if self._words and self._rng.random() < _REUSED:
            return self._rng.choice(self._words)
        self._words.append(self.fresh_word())
        return self._words[-1]

    def _person(self) -> str:
        if not self._families or self._rng.random() < 1 - _KIN:
            self._families.append(self.fresh_word())
            self._words.append(self._families[-1])
            return f"{self.fresh_word()} {self._families[-1]}"
        return f"{self.fresh_word()} {self._rng.choice(self._families)}"


def core_word(kind: Kind, name: str) -> str:
    """The word that a name turns on: a person's last name, a name without its title words."""
    return [word for word in name.split() if word not in kind.title_words][-1]


def aliases(kind: Kind, name: str, bearers: Mapping[str, int]) -> tuple[str, ...]:
    """The core word as a shorter form of a name, if it occurs in no other name.

    `bearers` says in how many names a word occurs.
    """
    core = core_word(kind, name)
    return (core,) if core != name and bearers[core] == 1 else ()


def apportion(total: int, weights: Mapping[str, int], at_least: int = 0) -> dict[str, int]:
    """Shares that add up to `total` by the largest-remainder method; ties go to the earlier key.

    `at_least`: what every share is raised to, at the cost of the largest, while the total allows it.
    """
    whole = sum(weights.values())
    shares = {key: total * weight // whole for key, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda key: -(total * weights[key] % whole))
    for key in by_remainder[: total - sum(shares.values())]:
        shares[key] += 1
    if total >= at_least * len(shares):
        while (least := min(shares, key=lambda key: shares[key])) and shares[least] < at_least:
            shares[least] += 1
            shares[max(shares, key=lambda key: shares[key])] -= 1
    return shares


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
    for kind in lexicon().kinds.values():
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
    kinds = lexicon().kinds
    counts = apportion(documents, {key: kind.weight for key, kind in kinds.items()}, at_least=1)
    things: dict[str, list[Thing]] = {key: [] for key in kinds}
    for _ in range(documents // DOCUMENTS_PER_HOMONYM):
        title = f"{namer.fresh_word()} {rng.choice(_SECOND_WORDS)}"  # fits every kind
        # Drawn from sorted keys, so that the order of kinds in the lexicon does not choose who shares a title.
        for key in sorted(rng.sample(sorted(kinds), HOMONYM_KINDS)):
            if namer.claim(kinds[key], title):
                things[key].append(Thing(kinds[key], title))
    for key, kind in kinds.items():
        things[key] += [Thing(kind, namer.name(kind)) for _ in range(counts[key] - len(things[key]))]
    ghosts = {
        key: [Thing(kind, namer.name(kind), ghost=True) for _ in range(max(1, round(_GHOST_SHARE * counts[key])))]
        for key, kind in kinds.items()
    }
    return things, ghosts


def _choose_subjects(things: dict[str, list[Thing]], summaries: int, rng: Random) -> list[Thing]:
    titles = Counter(thing.name for group in things.values() for thing in group)
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
            for kind in lexicon().kinds.values()
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
