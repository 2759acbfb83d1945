"""All facts that the documents of a world state, and every way in which they answer a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from arena.datasets.world.lexicon import RELATIONS
from arena.datasets.world.proof.reading import Fact, Reading
from arena.datasets.world.query import Leaf, Meet, Query


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value a query leads to and the documents it takes, in the order of the decomposition."""

    value: str
    documents: tuple[str, ...]


class Evidence:
    """Facts, findable by what they are about and by what they say."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._about: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self._saying: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self._bearers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for reading in readings:
            self._enter_name(reading.kind or "", reading.title)
            for fact in reading.facts:
                self._about[fact.relation, fact.subject].append(fact)
                self._saying[fact.relation, fact.value].append(fact)
                self._enter_name(fact.relation.partition(".")[0], fact.subject)
                self._enter_name(RELATIONS[fact.relation].value, fact.value)

    def stating(self, relation: str, subject: str) -> list[Fact]:
        """The facts that give a value of a relation of a thing, one a statement."""
        return self._about.get((relation, subject), [])

    def mentioning(self, thing: Leaf) -> set[str]:
        """The documents that state a fact about a thing or with it as value."""
        found: set[str] = set()
        for key, relation in RELATIONS.items():
            if key.startswith(f"{thing.kind}."):
                found.update(fact.doc_id for fact in self._about.get((key, thing.name), ()))
            if relation.value == thing.kind:
                found.update(fact.doc_id for fact in self._saying.get((key, thing.name), ()))
        return found

    def derive(self, query: Query, without: str | None = None) -> list[Derivation]:
        """Every derivation of the query over all documents but one."""
        if isinstance(query, Leaf):
            return [Derivation(query.name, ())]
        if isinstance(query, Meet):
            return list(self._meet(query, without))
        return [
            Derivation(fact.value, _joined(inner.documents, (fact.doc_id,)))
            for inner in self.derive(query.of, without)
            for fact in self.stating(query.relation, inner.value)
            if fact.doc_id != without
        ]

    def having(self, relation: str, value: str) -> list[Fact]:
        """The facts of a relation that say the value."""
        return self._saying.get((relation, value), [])

    def bearers(self, word: str) -> set[tuple[str, str]]:
        """The things, as kind and name, in whose name a word occurs."""
        return self._bearers.get(word, set())

    def _enter_name(self, kind: str, name: str) -> None:
        for word in name.split():
            self._bearers[word].add((kind, name))

    def _meet(self, query: Meet, without: str | None) -> Iterator[Derivation]:
        for one in self.derive(query.first.of, without):
            for other in self.derive(query.second.of, without):
                for left in self.having(query.first.relation, one.value):
                    for right in self.having(query.second.relation, other.value):
                        if left.subject == right.subject and without not in (left.doc_id, right.doc_id):
                            taken = _joined(one.documents, other.documents)
                            yield Derivation(left.subject, _joined(taken, (left.doc_id, right.doc_id)))


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
