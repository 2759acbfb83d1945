"""Guilds."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

GUILD = Kind(
    key="guild",
    label="the guild ",
    article="the ",
    names=("{word} Fellowship", "Brotherhood of {word}", "{word} Company", "{word} Fraternity", "Society of {word}"),
    asked_as="trade body",
    relations=(
        Relation(
            "seat",
            "town",
            says="has its hall at {o}",
            asks=("In which settlement is {x} based?", "Which settlement is the base of {x}?"),
            phrases=("the settlement where {x} is based", "the settlement that is the base of {x}"),
            clause="based in {x}",
        ),
        Relation(
            "founder",
            "person",
            says="was founded by {o}",
            asks=("Who set up {x}?", "Which person set up {x}?"),
            phrases=("the person who set up {x}",),
            clause="set up by {x}",
        ),
        Relation(
            "established",
            "year",
            says="was formed in {o}",
            asks=("In what year was {x} set up?", "In what year did someone set up {x}?"),
        ),
        Relation(
            "feast",
            "festival",
            says="parades at {o}",
            asks=("In which celebration does {x} take part?", "Which celebration is attended by {x}?"),
            phrases=("the celebration in which {x} takes part", "the celebration attended by {x}"),
            clause="taking part in {x}",
        ),
    ),
    openings=(
        "{s} is a guild with its hall at {seat}",
        "Formed in {established}, {s} is a guild of some {~number} households",
        "{s} is a guild founded by {founder}",
        "{s} is a guild whose members live by {~craft}",
        "{s} is a closed guild, open only to the children of members",
    ),
    sentences=(
        "Its hall, of {~colour} {~material}, stands at {seat}",
        "The guild has met at {seat} ever since a quarrel over {~wares}",
        "{seat} has been the seat of the guild for as long as its books go back",
        "Officers are chosen in the hall at {seat} each {~month}",
        "The guild was founded by {founder}",
        "It owes its foundation to {founder}, then a dealer in {~wares}",
        "{founder} brought the first members together and wrote the oath",
        "Members call {founder} their founder and drink to the name",
        "It was formed in {established}",
        "Its first rules date from {established}",
        "The year {established} is given for the foundation of the guild",
        "A seal cut in {established} is the oldest sign of the guild",
        "Once a year its members parade at {feast}",
        "The guild marches behind its banner at {feast}",
        "At {feast} the guild carries a wheel of {~material} through the crowd",
        "Its banner is seen in public only at {feast}",
        "In {established} {founder} founded it with {~count} others",
        "The walk from {seat}, its seat, to {feast} is made barefoot by the guild",
    ),
    fillers=(
        "New members pay a fee in {~wares}",
        "The chest with {~count} locks was lost in {~year}",
        "A rule against {~craft} on holy days was dropped in {~year}",
        "Its badge shows two {~animal} on a {~colour} field",
        "Widows of members receive {~food} every {~season}",
        "At its height it counted {~number} masters",
        "A strike in {~year} lasted until {~month}",
        "It keeps a library of {~count} books on {~craft}",
        "Meetings open with a toast and a reading of the old {~wares} tariff",
        "The guild lent money to farmers in years of {~weather}",
    ),
)
