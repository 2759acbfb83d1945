"""Bridges."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

BRIDGE = Kind(
    key="bridge",
    label="the bridge called ",
    article="the ",
    names=("{word} Bridge", "{word} Span", "Old {word} Bridge", "{word} Viaduct", "{word} Causeway"),
    asked_as="crossing",
    relations=(
        Relation(
            "river",
            "river",
            says="spans {o}",
            asks=("Which waterway lies beneath {x}?", "What is the name of the waterway beneath {x}?"),
            phrases=("the waterway beneath {x}", "the waterway that lies beneath {x}"),
            clause="above {x}",
        ),
        Relation(
            "engineer",
            "person",
            says="was designed by {o}",
            asks=("Who constructed {x}?", "Which person constructed {x}?"),
            phrases=("the person who constructed {x}", "the constructor of {x}"),
            clause="constructed by {x}",
        ),
        Relation(
            "opened",
            "year",
            says="opened in {o}",
            asks=("In what year did traffic start to use {x}?", "What year brought traffic to {x}?"),
        ),
        Relation(
            "arches",
            "number",
            unit="arches",
            limits=(3, 64),
            says="has {o} arches",
            asks=("How many vaults hold up {x}?", "By how many vaults is {x} held up?"),
        ),
    ),
    openings=(
        "{s} is a bridge of {arches} arches",
        "{s} is a bridge over {river}",
        "{s} is a bridge of {~material} designed by {engineer}",
        "{s}, opened in {opened}, is a bridge once lined with shops",
        "{s} is a narrow bridge of {~colour} {~material}",
    ),
    sentences=(
        "The bridge spans {river} at its narrowest",
        "It carries the post road over {river}",
        "Below it runs {river}, fast and {~colour} in {~season}",
        "Ferries on {river} lost their business once the bridge stood",
        "The bridge was designed by {engineer}",
        "Its engineer was {engineer}, better known for {~craft}",
        "The plans were drawn up by {engineer} in {~count} weeks",
        "{engineer} designed it after a failed attempt in {~material}",
        "It opened in {opened}",
        "The bridge was opened in {opened}, in a week of {~weather}",
        "A plaque gives {opened} as the year of its opening",
        "Carts were first let over it in {opened}",
        "It has {arches} arches",
        "The roadway rests on {arches} arches",
        "Its {arches} arches are of unequal width",
        "Boatmen count {arches} arches, the smallest of them blocked",
        "In {opened} the engineer, {engineer}, opened it by riding across alone",
        "With {arches} arches it reaches from bank to bank of {river}",
    ),
    fillers=(
        "A toll on {~wares} was taken until {~year}",
        "The parapet is of {~material}, patched with {~material}",
        "Lamps with {~colour} glass hang from it in {~season}",
        "Repairs in {~year} took {~count} months",
        "{~weather} makes the surface treacherous",
        "Nests of {~animal} are found under the eastern end",
        "Stalls selling {~food} stood on it within living memory",
        "A workshop for {~craft} occupied the gatehouse",
        "Two stone figures, said to be a miller and a bride, stand in the middle",
        "The flood of {~year} rose to within a hand of the roadway",
    ),
)
