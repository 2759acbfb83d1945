"""Mountains."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

MOUNTAIN = Kind(
    key="mountain",
    label="the mountain ",
    article="",
    names=("Mount {word}", "{word} Fell", "{word} Horn", "{word} Crag", "Great {word}"),
    asked_as="peak",
    relations=(
        Relation(
            "climber",
            "person",
            says="was first climbed by {o}",
            asks=("Who conquered {x} before anyone else?", "Who was the earliest conqueror of {x}?"),
            phrases=("the earliest conqueror of {x}", "the person who conquered {x}"),
        ),
        Relation(
            "ascent",
            "year",
            says="was first climbed in {o}",
            asks=("In what year was {x} conquered?", "In what year did someone conquer {x}?"),
        ),
        Relation(
            "height",
            "number",
            unit="metres",
            limits=(612, 4980),
            says="is {o} metres high",
            asks=("What is the altitude of {x}?", "How tall is {x}?"),
        ),
        Relation(
            "refuge",
            "guild",
            says="has a hut kept by {o}",
            asks=("Which trade body runs the shelter on {x}?", "Which trade body looks after the shelter on {x}?"),
            phrases=("the trade body that runs the shelter on {x}", "the trade body looking after the shelter on {x}"),
        ),
    ),
    openings=(
        "{s} is a mountain of {~material} and ice, {height} metres high",
        "{s} is a mountain first climbed by {climber}",
        "{s} is a broad, {~colour} mountain seen from half the province",
        "Rising to {height} metres, {s} is a mountain with two summits",
        "{s} is a mountain that herders long held to be unlucky",
    ),
    sentences=(
        "The first ascent was made by {climber}, by the south ridge",
        "{climber} was the first to set foot on the summit, in thin shoes",
        "The summit was first reached by {climber}",
        "It was {climber} who led the first party to the top",
        "The first ascent dates from {ascent}",
        "Nobody had climbed it until {ascent}",
        "The summit was first reached in {ascent}, on a day of {~weather}",
        "In {ascent} the first party stood on the top",
        "Its summit stands at {height} metres",
        "The mountain reaches {height} metres, though older maps give less",
        "At {height} metres it is the highest point of its ridge",
        "Surveyors put its elevation at {height} metres",
        "A hut below the glacier is kept by {refuge}",
        "{refuge} maintains a refuge of {~material} on the east shoulder",
        "Climbers sleep in the refuge of {refuge}, which holds {~count} bunks",
        "The upper hut is the property of {refuge}",
        "In {ascent} {climber} made the first ascent with a single rope",
        "The hut of {refuge}, well below the summit at {height} metres, is open until {~month}",
    ),
    fillers=(
        "{~weather} is likely on the upper slopes at any time",
        "An avalanche in {~year} cut a {~colour} scar that is still visible",
        "Herders graze {~animal} on the lower terraces",
        "A seam of {~material} was worked on the west side for {~count} years",
        "The path is marked with {~colour} posts",
        "{~count} small lakes lie on the north side and freeze by {~month}",
        "Crystals found here were once traded for {~wares}",
        "A weather station was tried in {~year} and abandoned",
        "Guides carry {~food} and little else",
        "In {~season} the light on the upper wall turns {~colour}",
    ),
)
