"""Schools."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

SCHOOL = Kind(
    key="school",
    label="the school ",
    article="",
    names=("{word} Academy", "{word} College", "{word} Hall", "{word} Seminary", "{word} Institute"),
    asked_as="place of learning",
    relations=(
        Relation(
            "town",
            "town",
            says="stands in {o}",
            asks=("In which settlement is {x} situated?", "Which settlement is the site of {x}?"),
            phrases=("the settlement where {x} is situated", "the settlement that is the site of {x}"),
            clause="situated in {x}",
        ),
        Relation(
            "founder",
            "person",
            says="was founded by {o}",
            asks=("Who brought {x} into being?", "Who brought into being {x}?"),
            phrases=("the person who brought into being {x}",),
            clause="brought into being by {x}",
        ),
        Relation(
            "opened",
            "year",
            says="opened in {o}",
            asks=("In what year did lessons at {x} begin?", "What year saw the earliest lessons at {x}?"),
        ),
        Relation(
            "pupils",
            "number",
            unit="pupils",
            limits=(38, 910),
            says="has {o} pupils",
            asks=("How many learners attend {x}?", "By how many learners is {x} attended?"),
        ),
    ),
    openings=(
        "{s} is a school in {town}",
        "{s} is a school founded by {founder}",
        "{s}, which opened in {opened}, is a school for the children of the province",
        "{s} is a boarding school with a strict rule about {~food}",
        "Founded by {founder}, {s} is a school with {pupils} pupils",
    ),
    sentences=(
        "The school stands in {town}, behind a wall of {~material}",
        "Its buildings are in {town}, next to a yard for {~wares}",
        "The school has never left {town}, in spite of {~count} fires",
        "Its bell can be heard all over {town}, where the school keeps to a steep lane",
        "The school was founded by {founder}",
        "It was endowed by {founder}, who asked for no portrait",
        "{founder} founded it with money made in {~wares}",
        "Pupils still sing a rude verse about {founder}, the founder",
        "It opened in {opened}",
        "The first pupils were admitted in {opened}, in a week of {~weather}",
        "Its doors opened in {opened}",
        "The year over the gate, {opened}, is that of the opening",
        "There are {pupils} pupils",
        "It has {pupils} pupils, fewer than the rooms allow",
        "The roll stands at {pupils} pupils",
        "Some {pupils} children are on the roll",
        "In {opened} {founder} opened the school in person",
        "It draws its {pupils} pupils from beyond {town}, where the school stands",
    ),
    fillers=(
        "Every pupil takes a course in {~craft}",
        "The library, with shelves of {~material}, was flooded in {~year}",
        "Uniforms are {~colour} with a belt of {~colour}",
        "A cabinet of stuffed {~animal} stands in the entrance",
        "Term ends early when there is {~weather}",
        "Fees were once paid in {~wares}",
        "The kitchen is famous for {~food}",
        "A rebellion in {~year} lasted {~count} days",
        "Its choir travels each {~season}",
        "Debates on {~wares} and taxes are held in {~month}",
    ),
)
