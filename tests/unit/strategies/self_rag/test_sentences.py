from __future__ import annotations

import pytest

from strategies.self_rag.prompted import next_sentence, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ("It cost 3.5 marks. Then it rained.", ["It cost 3.5 marks.", "Then it rained."]),
        ("Dr. Ode Varn met J. R. Selm. He left.", ["Dr. Ode Varn met J. R. Selm.", "He left."]),
        ('She said "Go." Then she went.', ['She said "Go."', "Then she went."]),
        ("no end", ["no end"]),
        ("  \n ", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@pytest.mark.parametrize(
    ("reply", "so_far", "found"),
    [
        ("Two. Three.", "One.", ("Two.", True)),
        ("One. Two.", "One.", ("Two.", False)),
        ("one. ONE.", "One.", ("", False)),
        ("", "", ("", False)),
    ],
)
def test_the_next_sentence_is_one_that_is_not_there_yet(reply: str, so_far: str, found: tuple[str, bool]) -> None:
    assert next_sentence(reply, so_far) == found
