"""Treaties."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

TREATY = Kind(
    key="treaty",
    label="the treaty known as ",
    article="the ",
    names=("Treaty of {word}", "Peace of {word}", "{word} Compact", "Concord of {word}", "{word} Convention"),
    asked_as="pact",
    relations=(
        Relation(
            "place",
            "town",
            says="was signed at {o}",
            asks=("In which settlement was {x} sealed?", "Which settlement saw the sealing of {x}?"),
            phrases=("the settlement where {x} was sealed", "the settlement that saw the sealing of {x}"),
            clause="sealed in {x}",
        ),
        Relation(
            "negotiator",
            "person",
            says="was negotiated by {o}",
            asks=("Who brokered {x}?", "Who was the broker of {x}?"),
            phrases=("the broker of {x}", "the person who brokered {x}"),
            clause="brokered by {x}",
        ),
        Relation(
            "year",
            "year",
            says="was signed in {o}",
            asks=("In what year was {x} sealed?", "What year saw the sealing of {x}?"),
        ),
        Relation(
            "border",
            "river",
            says="fixed the border along {o}",
            asks=("Which waterway became a boundary through {x}?", "Which waterway was made a boundary by {x}?"),
            phrases=("the waterway that became a boundary through {x}", "the waterway made a boundary by {x}"),
            clause="with a boundary on {x}",
        ),
    ),
    openings=(
        "{s} was a treaty signed at {place} after a war over {~wares}",
        "{s} was a treaty negotiated by {negotiator}",
        "{s}, signed in {year}, was a treaty of {~count} articles",
        "{s} was a treaty that ended a long quarrel over {~wares}",
        "Signed at {place} in {year}, {s} was a treaty between three small states",
    ),
    sentences=(
        "The treaty was signed at {place}, in a hall hung with {~colour} cloth",
        "It was concluded at {place} during {~weather}",
        "The envoys met and signed at {place}",
        "{place} was chosen for the signing because neither side held it",
        "Its chief negotiator was {negotiator}",
        "The text was drafted by {negotiator}, who spoke {~count} languages",
        "{negotiator} negotiated the terms over {~count} dinners of {~food}",
        "Most of the wording is owed to {negotiator}, the negotiator",
        "The signing took place in {year}",
        "It was signed in {year} and ratified at once",
        "The treaty dates from {year}",
        "Copies carry the date {year}, written in {~colour} ink",
        "It fixed the border along {border}",
        "The new frontier followed {border} as far as the marshes",
        "Under its terms {border} divided the two states",
        "A line of {~material} posts on {border} marked the new border",
        "In {year} {negotiator} signed for the weaker side",
        "At {place}, where it was signed, a map showed the border along {border} in {~colour} ink",
    ),
    fillers=(
        "A secret clause on {~wares} came to light in {~year}",
        "It kept the peace for {~count} years",
        "Prisoners were exchanged for {~wares}",
        "The original was written on calfskin and bound with {~material} clasps",
        "Both sides were to supply {~food} to the garrisons",
        "Historians disagree about the {~count} articles on {~craft}",
        "It lapsed in {~year} when one of the states ceased to exist",
        "The envoys brought gifts of {~animal} and {~wares}",
        "A tax on {~craft} was abolished as a result",
        "The winter before the talks had been one of {~weather}",
    ),
)
