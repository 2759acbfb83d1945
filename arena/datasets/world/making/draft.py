"""One attempt at a world: a graph, the questions it carries, and all of it put into records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from arena.datasets.fingerprint import fingerprint
from arena.datasets.world.lexicon import RELATIONS
from arena.datasets.world.making.apportion import apportion
from arena.datasets.world.making.graph import ExhaustedError, build_graph
from arena.datasets.world.making.names import aliases
from arena.datasets.world.making.render import passage
from arena.datasets.world.making.sampling import Found, Sampler
from arena.datasets.world.making.summary import claims, teller_documents
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.making.wording import ask, ask_summary
from arena.datasets.world.promises import KIND_SHARES, SHAPE_SHARES
from arena.types import Claim, Dataset, Document, Gold, Kind, Question


@dataclass(frozen=True, slots=True)
class _Item:
    """A question with its gold, before it has an id."""

    kind: Kind
    text: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Thing, ...] = ()
    shape: str | None = None
    hops: int | None = None
    claims: tuple[str, ...] = ()


class Draft:
    """One attempt at a world: everything drawn from one generator, in a fixed order."""

    def __init__(self, documents: int, questions: int, rng: Random) -> None:
        self._rng = rng
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
        documents = tuple(
            Document(self._ids[thing], thing.name, passage(thing, self._rng)) for thing in self._graph.things
        )
        questions: list[Question] = []
        gold: dict[str, Gold] = {}
        for place, item in enumerate(self._items):
            key = f"{item.shape if item.kind == 'multi_hop' else item.kind}__{place:06d}"
            questions.append(Question(key, item.text, item.kind, item.hops, item.shape))
            gold[key] = self._gold(key, item)
        return Dataset(name, documents, tuple(questions), gold, fingerprint(documents, questions, gold))

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
        multi = shares["multi_hop"]
        by_shape = apportion(multi, SHAPE_SHARES, at_least=1)
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
            hops=_hops(shape),
        )

    def _answers(self, found: Found) -> tuple[str, ...]:
        if isinstance(found.value, Thing):
            name = found.value.name
            return (name, *aliases(found.value.kind, name, self._bearers))
        unit = RELATIONS[found.query.relation].unit
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
                    items.append(_Item("unanswerable", ask(twin, self._rng), shape=shape, hops=_hops(shape)))
            if len(items) == before:
                raise ExhaustedError("unanswerable")
        return items


def _hops(shape: str | None) -> int:
    return int(shape[0]) if shape else 1
