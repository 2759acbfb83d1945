"""Towns."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

TOWN = Kind(
    key="town",
    label="the town of ",
    article="",
    names=("{word}", "{word} Haven", "Upper {word}", "{word} Cross", "Nether {word}", "{word} Regis"),
    asked_as="settlement",
    relations=(
        Relation(
            "river",
            "river",
            says="stands on {o}",
            asks=("Which waterway flows by {x}?", "What is the name of the waterway that flows by {x}?"),
            phrases=("the waterway that flows by {x}", "the waterway flowing by {x}"),
        ),
        Relation(
            "founder",
            "person",
            says="was founded by {o}",
            asks=("Who established {x}?", "Which person established {x}?"),
            phrases=("the person who established {x}", "the establisher of {x}"),
        ),
        Relation(
            "charter",
            "year",
            says="received its charter in {o}",
            asks=("In what year did {x} gain self-rule?", "What year brought self-rule to {x}?"),
        ),
        Relation(
            "hill",
            "mountain",
            says="lies at the foot of {o}",
            asks=("Which peak overlooks {x}?", "Which peak looms over {x}?"),
            phrases=("the peak overlooking {x}", "the peak that looms over {x}"),
        ),
    ),
    openings=(
        "{s} is a town on {river}, known for {~craft} and little else",
        "{s} is a small town at the foot of {hill}",
        "Founded by {founder}, {s} is a town of narrow lanes and {~material} roofs",
        "{s} is a market town in the eastern lowlands",
        "The town of {s} received its charter in {charter}",
        "{s} is one of the older towns of the province, with walls of {~material} on three sides",
    ),
    sentences=(
        "The town stands on the left bank of {river}, where barges once loaded {~wares}",
        "{river} runs through the lower quarter and floods the cellars each {~season}",
        "Most of the houses line the banks of {river}",
        "Tanners were drawn to the site by {river}, beside which the first sheds were put up",
        "Tradition holds that the town was founded by {founder}",
        "Its first streets were laid out by {founder}",
        "The foundation of the town is credited to {founder}, of whom a statue in {~material} survives",
        "{founder} chose the site and is honoured as its founder",
        "A charter followed in {charter}",
        "Its charter, dated {charter}, hangs in the council room",
        "Market rights were granted in {charter} after {~count} petitions",
        "The town was chartered in {charter}, in a year of {~weather}",
        "To the north rises {hill}, which hides the sun until mid-morning",
        "The town shelters beneath {hill}",
        "Its back gardens climb the lower slopes of {hill}",
        "From the square one sees {hill}, often under cloud",
        "Between {river} and the slopes of {hill} there is room for a single street",
        "In {charter}, long after {founder} had founded the town, it was granted a charter",
    ),
    fillers=(
        "{~weather} is common from {~month} to the end of {~season}",
        "Its bakers are proud of their {~food}",
        "The town hall, faced in {~material}, burned down in {~year} and was put up again",
        "A census of {~year} counted {~number} households",
        "{~craft} gave work to {~number} people at the height of the trade",
        "Flocks of {~animal} winter on the common",
        "There is a weekly market for {~wares} and {~wares}",
        "The old gate is painted {~colour}, for reasons nobody recalls",
        "A fever in {~year} emptied {~count} of its streets",
        "Stone from the local quarry, a {~colour} {~material}, is seen in every wall",
    ),
)
