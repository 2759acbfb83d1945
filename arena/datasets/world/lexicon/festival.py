"""Festivals."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation

FESTIVAL = Kind(
    key="festival",
    label="the festival called ",
    article="the ",
    names=("{word} Fair", "Feast of {word}", "{word} Carnival", "{word} Regatta", "Night of {word}"),
    asked_as="celebration",
    relations=(
        Relation(
            "town",
            "town",
            says="is held in {o}",
            asks=("Which settlement hosts {x}?", "Which settlement is the host of {x}?"),
            phrases=("the settlement hosting {x}", "the settlement that hosts {x}"),
            clause="hosted by {x}",
        ),
        Relation(
            "honours",
            "person",
            says="honours {o}",
            asks=("Who is remembered at {x}?", "Which person is remembered at {x}?"),
            phrases=("the person remembered at {x}", "the person who is remembered at {x}"),
            clause="at which people remember {x}",
        ),
        Relation(
            "first",
            "year",
            says="was first held in {o}",
            asks=("In what year did {x} start?", "What year saw the start of {x}?"),
        ),
        Relation(
            "organiser",
            "guild",
            says="is organised by {o}",
            asks=("Which trade body puts on {x}?", "By which trade body is {x} put on?"),
            phrases=("the trade body that puts on {x}", "the trade body putting on {x}"),
            clause="put on by {x}",
        ),
    ),
    openings=(
        "{s} is a festival held in {town} every {~month}",
        "{s} is a festival in honour of {honours}",
        "First held in {first}, {s} is a festival of masks and {~food}",
        "{s} is a yearly festival of lights, {~food} and bad verse",
        "{s} is a festival organised by {organiser}",
    ),
    sentences=(
        "It is held in {town}, whatever the weather",
        "The festival fills the squares of {town} for {~count} days",
        "Streets in {town} are closed to carts while the festival is held",
        "{town} has held it without a break since a year of {~weather}",
        "It honours {honours}, whose likeness in {~material} is carried about",
        "The festival commemorates {honours}",
        "Speeches in memory of {honours} open the day",
        "Its name aside, the festival is wholly given over to the memory of {honours}",
        "The festival was first held in {first}",
        "It dates back to {first}",
        "In {first} it was held for the first time, in {~weather}",
        "The first festival, that of {first}, ended in a brawl",
        "It is organised by {organiser}",
        "{organiser} runs the festival and keeps the takings",
        "Stalls and processions are arranged by {organiser}",
        "The organisers, {organiser}, charge for seats but not for {~food}",
        "Since {first}, when it was first held in {town}, it has grown to {~count} days",
        "{organiser} organises it in honour of {honours}",
    ),
    fillers=(
        "Visitors eat {~food} and wear {~colour} ribbons",
        "A race for {~animal} is the high point of the second day",
        "Dealers in {~wares} come from far away",
        "It was forbidden between {~year} and the next election",
        "The closing dance lasts until it is light",
        "{~weather} has spoiled it only {~count} times",
        "A prize for {~craft} is given every {~season}",
        "Masks of {~material} are handed down in families",
        "A crowd of {~number} was counted in {~year}",
        "Children throw flour at anyone dressed in {~colour}",
    ),
)
