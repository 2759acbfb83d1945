"""Albums."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

ALBUM = Kind(
    key="album",
    label="the album ",
    article="",
    names=("Letters to {word}", "{word} Nocturnes", "Songs for {word}", "{word} Variations", "Goodbye to {word}"),
    asked_as="disc",
    relations=(
        Relation(
            "performer",
            "person",
            says="was performed by {o}",
            asks=("To which artist is {x} credited?", "Which artist is behind {x}?"),
            phrases=("the artist behind {x}", "the artist to whom {x} is credited"),
            clause="credited to {x}",
        ),
        Relation(
            "studio",
            "town",
            says="was recorded at {o}",
            asks=("In which settlement was {x} put on tape?", "Which settlement saw the taping of {x}?"),
            phrases=("the settlement where {x} was put on tape", "the settlement that saw the taping of {x}"),
            clause="put on tape in {x}",
        ),
        Relation(
            "released",
            "year",
            says="was released in {o}",
            asks=("In what year did {x} reach the shops?", "What year filled the shops with {x}?"),
        ),
        Relation(
            "instrument",
            "instrument",
            says="features {o}",
            asks=("Which tool of music dominates {x}?", "Which tool of music is heard throughout {x}?"),
            phrases=("the tool of music that dominates {x}", "the tool of music heard throughout {x}"),
            clause="dominated by {x}",
        ),
    ),
    openings=(
        "{s} is an album by {performer}",
        "{s} is an album of {~count} songs recorded at {studio}",
        "Released in {released}, {s} is an album of quiet, {~colour} moods",
        "{s} is an album of songs about {~weather} and the sea",
        "Recorded at {studio} and released in {released}, {s} is an album in two parts",
    ),
    sentences=(
        "The songs are sung by {performer}, mostly in one take",
        "It was the only album that {performer} ever approved of",
        "{performer} performed it from memory",
        "The performer, {performer}, paid for the pressing by selling {~wares}",
        "It was recorded at {studio} in a disused {~material} barn",
        "The sessions took place at {studio} over {~count} nights",
        "Recording began at {studio} during {~weather} and was soon over",
        "{studio} was chosen for the recording because of its silence",
        "The album was released in {released}",
        "It came out in {released} to mild applause",
        "Its release, in {released}, passed without notice",
        "The sleeve bears the date {released}, the year of its release",
        "Nearly every song features {instrument}",
        "The lead part is given to {instrument}",
        "The sound of {instrument} opens and closes the album",
        "The album features {instrument}, borrowed from a museum of {~craft}",
        "In {released}, the year of its release, {performer} performed it only once",
        "At {studio}, where it was recorded, a player of {instrument} was easily found for it",
    ),
    fillers=(
        "The cover shows {~animal} against a {~colour} sky",
        "One song lists the prices of {~wares} in {~year}",
        "Critics compared it to {~food}, not unkindly",
        "A second pressing of {~number} copies sold out by {~month}",
        "The longest song tells of {~weather} on a {~season} night",
        "Rain on the {~material} roof can be heard between songs",
        "It was played at {~count} funerals in its first year",
        "A lawsuit over the sleeve dragged on until {~year}",
        "The words of {~count} songs come from a manual of {~craft}",
        "Copies with the {~colour} label are sought by collectors",
    ),
)
