"""Putting a query into English: noun phrases nested in a question, never in the words of the passages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from arena.datasets.world.grammar import Template
from arena.datasets.world.lexicon import KINDS, RELATIONS
from arena.datasets.world.lexicon.requests import SUMMARY_REQUESTS
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.query import Leaf, Query, Step


def ask(query: Step, rng: Random) -> str:
    """One of the query's many wordings, a whole question."""
    return _put(_suited(RELATIONS[query.relation].asks, query.of, rng), _phrase(query.of, rng))


def ask_summary(tellers: Sequence[Thing], rng: Random) -> str:
    """A request for an account of the first teller, which says what kinds of thing the others are."""
    subject, *others = tellers
    *nouns, last = (f"a {other.kind.asked_as}" for other in others)
    asked = {"x": f"{subject.kind.label}{subject.name}", "themes": f"{', '.join(nouns)} and {last}"}
    return Template(rng.choice(SUMMARY_REQUESTS)).fill(asked.__getitem__)


def _phrase(query: Query, rng: Random) -> str:
    if isinstance(query, Leaf):
        return f"{KINDS[query.kind].article}{query.name}"
    if isinstance(query, Step):
        return _put(_suited(RELATIONS[query.relation].phrases, query.of, rng), _phrase(query.of, rng))
    noun = KINDS[query.first.relation.partition(".")[0]].asked_as
    return f"the {noun} {_clause(query.first, rng)} and {_clause(query.second, rng)}"


def _clause(query: Step, rng: Random) -> str:
    clause = RELATIONS[query.relation].clause
    assert clause is not None
    return _put(clause, _phrase(query.of, rng))


def _suited(templates: Sequence[str], argument: Query, rng: Random) -> str:
    """Any template around a bare name; around a longer phrase one that ends with it, so that nesting stays readable."""
    closing = [template for template in templates if template.rstrip("?").endswith("{x}")]
    return rng.choice(templates if isinstance(argument, Leaf) else closing)


def _put(template: str, phrase: str) -> str:
    return Template(template).fill(lambda _: phrase)
