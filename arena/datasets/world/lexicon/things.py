"""Words and templates for musical instruments and ships, filler words, and the wording of summary questions.

Filler words vary a passage and never state a fact of the graph.
"""

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


SHIP = Kind(
    key="ship",
    label="the ship ",
    article="the ",
    names=("{word} Star", "{word} Dawn", "{word} Gull", "Pride of {word}", "{word} Tern", "Maid of {word}"),
    asked_as="vessel",
    relations=(
        Relation(
            "yard",
            "town",
            says="was built at {o}",
            asks=("In which settlement was {x} put together?", "Which settlement put together {x}?"),
            phrases=("the settlement where {x} was put together", "the settlement that put together {x}"),
            clause="put together in {x}",
        ),
        Relation(
            "captain",
            "person",
            says="sailed under {o}",
            asks=("Who steered {x}?", "Who was the skipper of {x}?"),
            phrases=("the skipper of {x}", "the person who steered {x}"),
            clause="steered by {x}",
        ),
        Relation(
            "launched",
            "year",
            says="was launched in {o}",
            asks=("In what year was {x} first afloat?", "What year saw the maiden outing of {x}?"),
        ),
        Relation(
            "owner",
            "guild",
            says="was owned by {o}",
            asks=("Which trade body held title to {x}?", "Which trade body held {x}?"),
            phrases=("the trade body that held title to {x}", "the trade body holding {x}"),
            clause="held by {x}",
        ),
        Relation(
            "crew",
            "number",
            unit="sailors",
            limits=(14, 320),
            says="carried a crew of {o}",
            asks=("How many people manned {x}?", "By how many people was {x} manned?"),
        ),
    ),
    openings=(
        "{s} was a ship built at {yard} for the coastal trade in {~wares}",
        "{s}, launched in {launched}, was a ship of three masts",
        "Built at {yard} and launched in {launched}, {s} was a ship of unusual speed",
        "{s} was a broad merchant ship with {~colour} sails",
        "{s} was a ship owned by {owner}",
    ),
    sentences=(
        "The ship was laid down at {yard}, of {~material} from the hills nearby",
        "It left the slipway at {yard} before a large crowd",
        "The builders' plate names {yard} as the place where the ship was built",
        "Its captain for most of its career was {captain}",
        "The ship sailed under {captain}, a hard master in {~weather}",
        "{captain} commanded it on every voyage but one",
        "Under the command of {captain} it rounded the southern cape in {~month}",
        "Letters of {captain}, its captain, describe the ship as wet but honest",
        "The launch took place in {launched}",
        "It took to the water in {launched}, a season of {~weather}",
        "Harbour books record its launch under the year {launched}",
        "Its owner was {owner}, which insured the cargo only",
        "The ship was the property of {owner}",
        "{owner} bought it for a sum never disclosed",
        "It flew the colours of {owner}, its owner, in {~count} ports",
        "It carried a crew of {crew}",
        "The crew numbered {crew}, the cook included",
        "Musters list {crew} hands aboard",
        "With {crew} sailors in the forecastle, the ship was always crowded",
        "{captain} hired a crew of {crew} and paid them in {~wares}",
        "For {owner}, its owner, {captain} sailed the ship to the ice and back",
    ),
    fillers=(
        "A gale in {~year} took away the foremast and {~count} boats",
        "Its usual cargo was {~wares}, with {~wares} on the way back",
        "The figurehead, a carved heron, was painted {~colour}",
        "Rats and damp spoiled the {~food} on the longest passage",
        "It was refitted in {~year} with fittings of {~material}",
        "The logbooks for {~count} of its voyages survive",
        "Fog held it in the roads from {~month} until the end of {~season}",
        "A model of {~material} stands in a seamen's chapel",
        "The bell was sold in {~year} and has not been seen since",
        "Sailors held that {~animal} followed it for luck",
    ),
)


VOCABULARY: dict[str, tuple[str, ...]] = {
    "animal": ("herons", "geese", "goats", "otters", "crows", "hares", "swallows", "bees", "cranes", "foxes"),
    "colour": ("grey", "tawny", "dark green", "rust red", "pale blue", "white", "black", "yellow"),
    "count": ("three", "four", "five", "six", "seven", "nine", "eleven", "twelve"),
    "craft": (
        "glassblowing",
        "ropemaking",
        "weaving",
        "tanning",
        "papermaking",
        "dyeing",
        "saddlery",
        "pottery",
        "clockmaking",
        "basketry",
    ),
    "food": ("smoked eel", "barley bread", "pickled plums", "honey cake", "salt cheese", "onion broth", "dried pears"),
    "material": ("slate", "granite", "limestone", "beech", "flint", "brick", "sandstone", "larch", "marble", "basalt"),
    "month": ("February", "March", "April", "May", "June", "August", "September", "October", "November"),
    "season": ("spring", "summer", "autumn", "winter"),
    "weather": ("fog", "snow", "driving rain", "late frost", "hail", "salt wind", "thunder", "drought"),
    "wares": ("wool", "lamp oil", "timber", "salt", "grain", "tin", "hides", "candles", "wine", "flax"),
}


SUMMARY_REQUESTS: tuple[str, ...] = (
    "Give a short account of {x} and of {themes} tied to that name.",
    "Tell what is known about {x}, together with {themes} of which the same name is part.",
    "Sum up everything on record that concerns {x}, including {themes}.",
)
"""`{x}` is the thing, `{themes}` a list of the kinds of other things whose documents speak of it."""
