"""Novels."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

NOVEL = Kind(
    key="novel",
    label="the novel ",
    article="",
    names=("Winter in {word}", "{word} Burning", "House of {word}", "Return to {word}", "{word} Remembered"),
    asked_as="book",
    relations=(
        Relation(
            "author",
            "person",
            says="was written by {o}",
            asks=("Who penned {x}?", "From whose pen is {x}?"),
            phrases=("the person who penned {x}", "the penner of {x}"),
            clause="penned by {x}",
        ),
        Relation(
            "setting",
            "town",
            says="is set in {o}",
            asks=("In which settlement does the plot of {x} play out?", "Which settlement is home to the plot of {x}?"),
            phrases=(
                "the settlement where the plot of {x} plays out",
                "the settlement that is home to the plot of {x}",
            ),
            clause="playing out in {x}",
        ),
        Relation(
            "published",
            "year",
            says="was published in {o}",
            asks=("In what year did {x} reach its readers?", "What year gave readers {x}?"),
        ),
        Relation(
            "ship",
            "ship",
            says="follows a voyage on {o}",
            asks=("Which vessel carries the characters of {x}?", "Which vessel do the characters of {x} travel by?"),
            phrases=("the vessel carrying the characters of {x}", "the vessel by which the characters of {x} travel"),
            clause="whose characters travel by {x}",
        ),
    ),
    openings=(
        "{s} is a novel by {author}",
        "{s} is a novel set in {setting} in a time of {~weather}",
        "Published in {published}, {s} is a novel in {~count} parts",
        "{s} is a novel about the trade in {~wares}",
        "{s}, written by {author}, is a novel of debts and family silence",
    ),
    sentences=(
        "Its author, {author}, wrote it in a single {~season}",
        "{author} wrote the novel while working as a clerk in {~wares}",
        "The manuscript, in the hand of {author}, is kept under glass",
        "The story is set in {setting}, whose {~material} alleys it describes at length",
        "The action takes place in {setting} over {~count} days",
        "{setting} is the scene of the story",
        "Nearly every chapter unfolds in {setting}, with a map to help",
        "It was published in {published}",
        "It first appeared in {published}, in a {~colour} binding",
        "The first printing is dated {published}",
        "Publication came in {published}, after {~count} refusals",
        "Its middle chapters pass aboard {ship}",
        "The heroine runs away to sea on {ship}",
        "A voyage on {ship} takes up the second half",
        "The story leaves land when the hero signs on with {ship}",
        "In {published} {author} published it under a false name",
        "From {setting}, the scene of the opening, the story moves aboard {ship}",
        "The novel was the work of {author} alone, whatever the printer claimed",
    ),
    fillers=(
        "A chapter on {~craft} is often printed separately",
        "The villain deals in {~wares} and eats nothing but {~food}",
        "It was banned for its views on {~wares} until {~year}",
        "A stage version of {~year} added {~count} songs",
        "Scholars have counted {~count} errors in its account of {~craft}",
        "Its symbols are {~animal}, {~weather} and a {~colour} coat",
        "A cheap edition of {~number} copies followed",
        "The last page is missing from copies printed before {~year}",
        "Schoolchildren learn the passage on the {~material} well by heart",
        "Reviewers complained of too much {~weather}",
    ),
)
