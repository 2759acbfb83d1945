"""Draw the questions of a world from its graph: chains, meetings, and their unanswerable twins.

A `WorldDraft` is one attempt at a world: a graph with its questions, put into records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from arena.datasets.records import make_dataset
from arena.datasets.world.grammar import (
    KIND_SHARES,
    SHAPE_SHARES,
    SHAPES,
    Leaf,
    Meet,
    Query,
    Relation,
    Step,
    innermost,
    names_in,
)
from arena.datasets.world.graph import ExhaustedError, Graph, Thing, aliases, apportion, build_graph
from arena.datasets.world.lexicon import lexicon
from arena.datasets.world.passages import ask, ask_summary, claims, passage, teller_documents
from arena.types import Claim, Dataset, Document, Gold, Kind, Question

_TRIES = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A query, the things whose documents it needs in decomposition order, and the value it leads to."""

    query: Step
    hops: tuple[Thing, ...]
    value: Thing | int


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
        starts = (self._trace_back(source, relations[:-1]) for source in sources)
        return next((start for start in starts if start is not None), None)

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
        key = innermost(found.query).relation.partition(".")[2]
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


@dataclass(frozen=True, slots=True)
class _Item:
    """A question with its gold, before it has an id."""

    kind: Kind
    text: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Thing, ...] = ()
    shape: str | None = None
    claims: tuple[str, ...] = ()

    @property
    def hops(self) -> int | None:
        """Facts on the reasoning path, which a MuSiQue shape begins with; None for a summary."""
        if self.kind == "summary":
            return None
        return int(self.shape[0]) if self.shape else 1


class WorldDraft:
    """One attempt at a world: everything drawn from one generator, in a fixed order."""

    def __init__(self, documents: int, questions: int, rng: Random) -> None:
        self._rng = rng
        # The order of what is drawn from here on is part of every world: one draw moved changes all that follow.
        shares = apportion(questions, KIND_SHARES)
        self._graph = build_graph(documents, shares["summary"], rng)
        self._sampler = Sampler(self._graph, rng)
        self._bearers = Counter(
            word for thing in (*self._graph.things, *self._graph.ghosts) for word in thing.name.split()
        )
        self._ids = {thing: f"d{place:05d}" for place, thing in enumerate(self._graph.things)}
        self._items = self._draw_items(shares)

    def dataset(self, name: str) -> Dataset:
        """The texts of the world, its questions and their gold."""
        documents = [Document(self._ids[thing], thing.name, passage(thing, self._rng)) for thing in self._graph.things]
        questions: list[Question] = []
        gold: dict[str, Gold] = {}
        for place, item in enumerate(self._items):
            key = f"{item.shape if item.kind == 'multi_hop' else item.kind}__{place:06d}"
            questions.append(Question(key, item.text, item.kind, item.hops, item.shape))
            gold[key] = self._gold(key, item)
        return make_dataset(name, documents, questions, gold)

    def _gold(self, key: str, item: _Item) -> Gold:
        evidence = tuple(self._ids[thing] for thing in item.evidence)
        return Gold(
            question_id=key,
            answers=item.answers,
            supporting_ids=evidence,
            hop_order=evidence if item.kind in ("multi_hop", "single_hop") else None,
            answerable=item.kind != "unanswerable",
            claims=tuple(Claim(text, (teller,)) for text, teller in zip(item.claims, evidence, strict=False)),
        )

    def _draw_items(self, shares: Mapping[str, int]) -> list[_Item]:
        by_shape = apportion(shares["multi_hop"], SHAPE_SHARES, at_least=1)
        # The rare shapes first: they have the fewest places in the graph.
        shapes: list[str | None] = [shape for shape in reversed(list(SHAPE_SHARES)) for _ in range(by_shape[shape])]
        drawn = [(shape, self._sampler.answerable(shape)) for shape in [*shapes, *[None] * shares["single_hop"]]]
        items = [self._answerable(shape, found) for shape, found in drawn]
        items += [self._summary(subject) for subject in self._graph.subjects]
        items += self._twins(drawn, shares["unanswerable"])
        self._rng.shuffle(items)
        return items

    def _answerable(self, shape: str | None, found: Found) -> _Item:
        return _Item(
            kind="multi_hop" if shape else "single_hop",
            text=ask(found.query, self._rng),
            answers=self._answers(found),
            evidence=found.hops,
            shape=shape,
        )

    def _answers(self, found: Found) -> tuple[str, ...]:
        if isinstance(found.value, Thing):
            name = found.value.name
            return (name, *aliases(found.value.kind, name, self._bearers))
        unit = lexicon().relations[found.query.relation].unit
        return (str(found.value), *([f"{found.value} {unit}"] if unit else []))

    def _summary(self, subject: Thing) -> _Item:
        tellers = teller_documents(self._graph, subject)
        told = claims(tellers, self._rng)
        return _Item("summary", ask_summary(tellers, self._rng), (" ".join(told),), tuple(tellers), claims=tuple(told))

    def _twins(self, drawn: Sequence[tuple[str | None, Found]], count: int) -> list[_Item]:
        """Unanswerable counterparts of answerable questions, in rounds over those that have one."""
        items: list[_Item] = []
        models = self._rng.sample(drawn, len(drawn))
        while len(items) < count:
            before = len(items)
            for shape, found in models:
                twin = self._sampler.twin(found) if len(items) < count else None
                if twin is not None:
                    items.append(_Item("unanswerable", ask(twin, self._rng), shape=shape))
            if len(items) == before:
                raise ExhaustedError("unanswerable")
        return items
