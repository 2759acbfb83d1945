"""Finding the questions of a graph: chains, meetings, and their unanswerable twins."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from arena.datasets.world.grammar import Relation
from arena.datasets.world.making.graph import ExhaustedError, Graph
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.query import SHAPES, Leaf, Meet, Query, Step, names_in

_TRIES = 4000


class Found:
    """A query, the things whose documents it needs in decomposition order, and the value it leads to."""

    __slots__ = ("hops", "query", "value")

    def __init__(self, query: Step, hops: tuple[Thing, ...], value: Thing | int) -> None:
        self.query, self.hops, self.value = query, hops, value


class Sampler:
    """Draws questions from a graph; no two ask the same and no two share their deciding fact."""

    def __init__(self, graph: Graph, rng: Random) -> None:
        self._graph, self._rng = graph, rng
        self._asked: set[tuple[Thing, str]] = set()

    def answerable(self, shape: str | None) -> Found:
        """One question of a MuSiQue shape, or over a single fact when None.

        Raises:
            ExhaustedError: none was found.
        """
        arms = SHAPES[shape] if shape is not None else (1,)
        for _ in range(_TRIES):
            found = self._chain(arms[0]) if len(arms) == 1 else self._meeting(*arms)
            if found is not None:
                self._asked.add(_deciding(found))
                return found
        raise ExhaustedError(shape or "single_hop")

    def twin(self, found: Found) -> Step | None:
        """The same question about other things, whose deciding document does not exist; None when there is none."""
        relations = _chain_relations(found.query)
        if relations is None:
            return None
        last = relations[-1]
        ghosts = [ghost for ghost in self._graph.ghosts if ghost.kind.key == last.partition(".")[0]]
        self._rng.shuffle(ghosts)
        for ghost in ghosts:
            key = (ghost, last)
            if key in self._asked:
                continue
            start = self._trace_back(ghost, relations[:-1])
            if start is not None:
                self._asked.add(key)
                return _chain_query(start, relations)
        return None

    def _trace_back(self, thing: Thing, relations: Sequence[str]) -> Thing | None:
        if not relations:
            return thing
        sources = [
            source
            for source, relation in self._graph.pointing_at.get(thing, ())
            if f"{source.kind.key}.{relation.key}" == relations[-1]
        ]
        self._rng.shuffle(sources)
        for source in sources:
            start = self._trace_back(source, relations[:-1])
            if start is not None:
                return start
        return None

    def _chain(self, length: int) -> Found | None:
        start = self._rng.choice(self._graph.things)
        return self._extend(Leaf(start.kind.key, start.name), start, (), length)

    def _extend(self, query: Query, at: Thing, hops: tuple[Thing, ...], length: int) -> Found | None:
        """Walk `length` random facts on from a thing, never through a ghost or twice through one document."""
        while True:
            hops = (*hops, at)
            last = length == 1
            keys = [key for key, value in at.facts.items() if last or _goes_on(value, hops)]
            if not keys:
                return None
            key = self._rng.choice(keys)
            value = at.facts[key]
            query, length = Step(f"{at.kind.key}.{key}", query), length - 1
            if length == 0 or isinstance(value, int):
                found = Found(query, hops, value)
                return None if value in hops or _deciding(found) in self._asked or _gives_itself_away(found) else found
            at = value

    def _meeting(self, first: int, second: int, stem: int) -> Found | None:
        rng = self._rng
        meeting = rng.choice(self._graph.things)
        clauses = [clause for clause in meeting.kind.clauses if _goes_on(meeting.facts.get(clause.key, 0), (meeting,))]
        if len(clauses) < 2:
            return None
        pair = rng.sample(clauses, 2)
        if not self._singled_out(meeting, pair[0], pair[1]):
            return None
        hops: tuple[Thing, ...] = ()
        arms: list[Step] = []
        for clause, length in zip(pair, (first, second), strict=True):
            arm = self._arm(meeting, clause, length, (*hops, meeting))
            if arm is None:
                return None
            arms.append(Step(f"{meeting.kind.key}.{clause.key}", arm[0]))
            hops = (*hops, *arm[1])
        found = self._extend(Meet(arms[0], arms[1]), meeting, hops, stem)
        if found is None or not self._needs_both(meeting, pair, found):
            return None
        return found

    def _arm(
        self, meeting: Thing, clause: Relation, length: int, taken: tuple[Thing, ...]
    ) -> tuple[Query, tuple[Thing, ...]] | None:
        """A chain of facts that leads to the value of a clause, found backwards from it."""
        at = meeting.facts[clause.key]
        relations: list[str] = []
        hops: tuple[Thing, ...] = ()
        for _ in range(length):
            assert isinstance(at, Thing)
            sources = [
                (source, relation)
                for source, relation in self._graph.pointing_at.get(at, ())
                if source not in taken and source not in hops and source.kind is not meeting.kind
            ]
            if not sources:
                return None
            at, relation = self._rng.choice(sources)
            relations.insert(0, f"{at.kind.key}.{relation.key}")
            hops = (at, *hops)
        return _chain_query(hops[0], relations), hops

    def _having(self, meeting: Thing, clause: Relation) -> list[Thing]:
        value = meeting.facts[clause.key]
        assert isinstance(value, Thing)
        return [
            thing
            for thing, relation in self._graph.pointing_at[value]
            if thing.kind is meeting.kind and relation.key == clause.key
        ]

    def _singled_out(self, meeting: Thing, one: Relation, other: Relation) -> bool:
        """Whether both values together fit only this thing, and each alone fits others as well."""
        by_one, by_other = self._having(meeting, one), self._having(meeting, other)
        both = [thing for thing in by_one if thing in by_other]
        return both == [meeting] and len(by_one) > 1 and len(by_other) > 1

    def _needs_both(self, meeting: Thing, pair: Sequence[Relation], found: Found) -> bool:
        """Whether the fact read off the meeting is another one, and differs among those that fit one clause only."""
        key = _relation_above_meeting(found.query).partition(".")[2]
        if key in (pair[0].key, pair[1].key):
            return False
        return all(
            any(
                thing.facts.get(key, meeting.facts[key]) != meeting.facts[key]
                for thing in self._having(meeting, clause)
            )
            for clause in pair
        )


def _goes_on(value: Thing | int, visited: Sequence[Thing]) -> bool:
    return isinstance(value, Thing) and not value.ghost and value not in visited


def _gives_itself_away(found: Found) -> bool:
    """Whether the answer could be guessed from a name in the question, as a Treaty of Ossel from the town of Ossel."""
    words = {word for name in names_in(found.query) for word in name.split()}
    return isinstance(found.value, Thing) and not words.isdisjoint(found.value.name.split())


def _deciding(found: Found) -> tuple[Thing, str]:
    return found.hops[-1], found.query.relation


def _relation_above_meeting(query: Step) -> str:
    while isinstance(query.of, Step):
        query = query.of
    return query.relation


def _chain_relations(query: Query) -> list[str] | None:
    relations: list[str] = []
    while isinstance(query, Step):
        relations.insert(0, query.relation)
        query = query.of
    return relations if isinstance(query, Leaf) else None


def _chain_query(start: Thing, relations: Sequence[str]) -> Step:
    query: Query = Leaf(start.kind.key, start.name)
    for relation in relations:
        query = Step(relation, query)
    assert isinstance(query, Step)
    return query
