"""Musical instruments."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

INSTRUMENT = Kind(
    key="instrument",
    label="the instrument called ",
    article="the ",
    names=("{word} Lute", "{word} Viol", "{word} Harp", "{word} Zither", "{word} Cittern"),
    asked_as="tool of music",
    relations=(
        Relation(
            "inventor",
            "person",
            says="was invented by {o}",
            asks=("Who thought up {x}?", "Whose brainchild was {x}?"),
            phrases=("the person who thought up {x}", "the person whose brainchild was {x}"),
            clause="thought up by {x}",
        ),
        Relation(
            "origin",
            "town",
            says="comes from {o}",
            asks=("From which settlement does {x} hail?", "Which settlement gave rise to {x}?"),
            phrases=("the settlement from which {x} hails", "the settlement that gave rise to {x}"),
            clause="hailing from {x}",
        ),
        Relation(
            "strings",
            "number",
            unit="strings",
            limits=(3, 41),
            says="has {o} strings",
            asks=("How many cords are stretched across {x}?", "How many cords does {x} have?"),
        ),
    ),
    openings=(
        "{s} is an instrument of {strings} strings",
        "{s} is an instrument invented by {inventor}",
        "{s} is an instrument from {origin}, with a body of {~material}",
        "{s} is a bowed instrument with a dry, {~colour} tone",
        "Invented by {inventor}, {s} is an instrument with {strings} strings",
    ),
    sentences=(
        "The instrument was invented by {inventor}",
        "It was devised by {inventor}, a dabbler in {~craft}",
        "{inventor} invented it for a bet",
        "The design is that of {inventor}, the inventor",
        "It comes from {origin}, where a workshop still makes it",
        "The oldest examples were made at {origin} out of {~material}",
        "The instrument is native to {origin}",
        "Makers at {origin} built the first examples, {~count} in all",
        "It has {strings} strings",
        "The {strings} strings are of gut, tuned in pairs",
        "A full set of {strings} strings costs as much as a goat",
        "Of its {strings} strings only half are ever plucked",
        "At {origin}, its place of origin, {inventor} is honoured as the inventor",
        "{inventor}, its inventor, first gave it {strings} strings",
    ),
    fillers=(
        "Its sound has been compared to {~animal} in {~weather}",
        "The back is stained {~colour} with walnut",
        "A manual of {~year} warns against playing it near {~wares}",
        "Only {~count} makers are still at work",
        "It is heard at harvest and in {~month}",
        "Damp ruins it, so players fear {~weather}",
        "The pegs are of {~material} and the bridge of {~material}",
        "A concert for {~count} of them was given in {~year}",
        "Players rub the wood with oil and {~food} fat",
        "In one old tale it is swapped for a cart of {~wares}",
        "Its case is usually lined with {~colour} felt",
    ),
)
