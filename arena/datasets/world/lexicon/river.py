"""Rivers."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

RIVER = Kind(
    key="river",
    label="the river ",
    article="the ",
    names=("River {word}", "{word} Water", "{word} Brook", "Little {word}", "{word} Beck"),
    asked_as="waterway",
    relations=(
        Relation(
            "source",
            "mountain",
            says="rises on {o}",
            asks=("On which peak does {x} start?", "Which peak is the starting point of {x}?"),
            phrases=("the peak on which {x} starts", "the peak that is the starting point of {x}"),
        ),
        Relation(
            "surveyor",
            "person",
            says="was surveyed by {o}",
            asks=("Who traced the course of {x}?", "Which person traced the course of {x}?"),
            phrases=("the person who traced the course of {x}", "the tracer of the course of {x}"),
        ),
        Relation(
            "length",
            "number",
            unit="kilometres",
            limits=(23, 940),
            says="is {o} kilometres long",
            asks=("How far, in km, does {x} travel?", "What distance, in km, is travelled by {x}?"),
        ),
        Relation(
            "joins",
            "river",
            says="empties into {o}",
            asks=("Into which larger waterway does {x} drain?", "Which larger waterway is fed by {x}?"),
            phrases=("the larger waterway into which {x} drains", "the larger waterway fed by {x}"),
        ),
    ),
    openings=(
        "{s} is a river of the interior, {length} kilometres long",
        "{s} rises on {source} and for much of its way is too shallow for boats",
        "{s} is a slow, {~colour} river bordered by alder and willow",
        "A tributary of {joins}, {s} is a river of rapids and gravel bars",
        "{s} is a river known to anglers and to few others",
    ),
    sentences=(
        "It rises on {source} at a spring walled in with {~material}",
        "Snow from {source} feeds the river until {~month}",
        "The river springs from the flank of {source}, among bogs",
        "Its source lies high on {source}",
        "The river was first surveyed by {surveyor}",
        "The earliest chart of its banks was drawn by {surveyor}, who lost {~count} boats in the attempt",
        "{surveyor} mapped the whole river in two seasons",
        "A survey by {surveyor} is still used by pilots",
        "From spring to mouth it measures {length} kilometres",
        "The river is {length} kilometres long, bends included",
        "Over its {length} kilometres it falls steadily and has no great cascade",
        "Its length is put at {length} kilometres",
        "It empties into {joins} among reed beds",
        "Below the last mill the river meets {joins}, and loses its name",
        "The river is a tributary of {joins}",
        "Its mouth is on {joins}, where {~animal} nest",
        "Between {source}, where it rises, and {joins}, its receiver, there are {~count} weirs",
        "{surveyor} surveyed it and gave its length as {length} kilometres",
    ),
    fillers=(
        "Ice closes the upper reaches in most years until {~month}",
        "The flood of {~year} carried off {~count} mills",
        "Rafts of {~wares} went down it every {~season}",
        "Its bed is of {~colour} clay over {~material}",
        "Children still hunt for crayfish under the {~material} ledges",
        "Colonies of {~animal} line the lower banks",
        "{~weather} can raise the level by a metre in a night",
        "Dyers valued the softness of the water, and {~craft} flourished along it",
        "A toll on {~wares} was levied here until {~year}",
        "Local cooks claim that nothing suits the fish better than {~food}",
    ),
)
