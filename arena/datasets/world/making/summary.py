"""Reference accounts: five claims about a subject, each told by one document alone."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from arena.datasets.world.grammar import Template, capitalised
from arena.datasets.world.making.graph import Graph
from arena.datasets.world.making.render import running_name
from arena.datasets.world.making.thing import Thing
from arena.datasets.world.promises import REFERENCE_WORDS

_TARGET_WORDS = 96


def teller_documents(graph: Graph, subject: Thing) -> list[Thing]:
    """The subject and the four things whose documents speak of it."""
    return [subject, *(source for source, _ in graph.pointing_at[subject])]


def claims(tellers: Sequence[Thing], rng: Random) -> list[str]:
    """One sentence a document, together about a hundred words; the first teller is the subject.

    Each claim starts from what its document says of the subject and takes up further facts of the
    document in turn until the account is long enough.
    """
    subject = tellers[0]
    told = [_order(teller, subject, rng) for teller in tellers]
    shares = [1] * len(tellers)
    while sum(map(_words, _sentences(tellers, told, shares))) < _TARGET_WORDS:
        wider = _widened(tellers, told, shares)
        if wider is None:
            break
        shares = wider
    return _sentences(tellers, told, shares)


def _widened(tellers: Sequence[Thing], told: Sequence[Sequence[str]], shares: Sequence[int]) -> list[int] | None:
    """One more fact for the claim that has fewest, if some claim has one left and the account stays short enough."""
    open_claims = [number for number in range(len(tellers)) if shares[number] < len(told[number])]
    for number in sorted(open_claims, key=lambda number: shares[number]):
        wider = [share + (place == number) for place, share in enumerate(shares)]
        if sum(map(_words, _sentences(tellers, told, wider))) <= REFERENCE_WORDS[1]:
            return wider
    return None


def _order(teller: Thing, subject: Thing, rng: Random) -> list[str]:
    about = [key for key, value in teller.facts.items() if value is subject]
    other = [key for key in teller.facts if key not in about]
    return [*about, *rng.sample(other, len(other))]


def _sentences(tellers: Sequence[Thing], told: Sequence[Sequence[str]], shares: Sequence[int]) -> list[str]:
    return [_claim(teller, keys[:share]) for teller, keys, share in zip(tellers, told, shares, strict=True)]


def _claim(teller: Thing, keys: Sequence[str]) -> str:
    predicates = [_predicate(teller, key) for key in keys]
    *before, last = predicates
    said = f"{', '.join(before)} and {last}" if before else last
    return f"{capitalised(teller.kind.label)}{teller.name} {said}."


def _predicate(teller: Thing, key: str) -> str:
    return Template(teller.kind.by_key[key].says).fill(lambda _: running_name(teller.facts[key]))


def _words(text: str) -> int:
    return len(text.split())
