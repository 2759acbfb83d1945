from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.ircot.prompt import first_sentence, is_reasoning, query_from


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("X is in Y. So the answer is: Z.", "X is in Y."),
        ("So the answer is: Z.", "So the answer is: Z."),
        ("J. R. R. Tolkien met Dr. Smith in St. Ives. He left.", "J. R. R. Tolkien met Dr. Smith in St. Ives."),
        ("It measures 3.5 km. It was built in 1702. Later", "It measures 3.5 km."),
        ("She was born in 1702. Then she left.", "She was born in 1702."),
        ("He lived in Washington, D.C. Foster. He died.", "He lived in Washington, D.C. Foster."),
        ("He lived in the U.S. He died there.", "He lived in the U.S."),
        ("It left at 3 p.m. from Tolm. It sank.", "It left at 3 p.m. from Tolm."),
        ("See No. 5 on the list. Next.", "See No. 5 on the list."),
        ("The answer is no. Bob left.", "The answer is no."),
        ("It succeeded Charles I. He reigned.", "It succeeded Charles I."),
        ("Acme Inc. The firm closed.", "Acme Inc."),
        ("Acme Inc. Holdings closed. It did.", "Acme Inc. Holdings closed."),
        ('He wrote "Why?" and left. Then', 'He wrote "Why?" and left.'),
        ('She said "No." Then she left.', 'She said "No."'),
        ("Really?! Yes.", "Really?!"),
        ("Wait... no. Yes.", "Wait... no."),
        ("1. Orlen Weir is a river. It", "Orlen Weir is a river."),
        ("- Orlen Weir is a river.", "Orlen Weir is a river."),
        ("Next sentence: Orlen Weir is a river.", "Orlen Weir is a river."),
        ("\n \nOrlen Weir is a river\nand more", "Orlen Weir is a river"),
        ("no end", "no end"),
        (" ... \nWord.", "Word."),
        ("...", ""),
        ("", ""),
    ],
)
def test_the_first_sentence(reply: str, kept: str) -> None:
    assert first_sentence(reply) == kept


@given(st.text())
def test_it_is_a_piece_of_one_line_and_reads_the_same_again(text: str) -> None:
    kept = first_sentence(text)
    assert kept in text
    assert kept == kept.strip()
    assert len(kept.splitlines()) <= 1
    assert first_sentence(kept) in kept


@given(st.text(alphabet="ab AB.!? \n\"'()1"))
def test_something_is_kept_exactly_when_something_is_said(text: str) -> None:
    assert bool(first_sentence(text)) == any(letter.isalnum() for letter in text)


NAMES = st.sampled_from(["Dara Voss", "J. R. Holt", "Dr. Voss", "St. Orrin", "the U.S. Navy", "Mt. Lunn", "No. 7"])
FACTS = st.builds(
    "{} measured {} in {} with {}".format, NAMES, st.decimals(0, 999, places=2), st.integers(1000, 2100), NAMES
)


@given(FACTS, st.sampled_from([".", "!", "?"]), st.sampled_from(["It was so.", "Pell Light is tall.", "He left"]))
def test_names_abbreviations_and_decimals_do_not_end_a_sentence(fact: str, mark: str, rest: str) -> None:
    assert first_sentence(f"{fact}{mark} {rest}") == f"{fact}{mark}"


@pytest.mark.parametrize(
    ("sentence", "reasoning"),
    [
        ("Thus, it is Tolm.", True),
        ("So the answer is: Tolm.", True),
        ("so, it is Tolm.", True),
        ("That is, Tolm.", True),
        ("Therefore it is Tolm.", True),
        ("Hence Tolm.", True),
        ("The span was 1,902 - 1890 = 12 years.", True),
        ("It had 3 + 4 = 7 doors.", True),
        ("Sotheby sold it.", False),
        ("That is Tolm.", False),
        ("It ran from 1890 - 1902.", False),
        ("The So river flows.", False),
    ],
)
def test_conclusions_and_sums_are_no_facts(sentence: str, reasoning: bool) -> None:
    assert is_reasoning(sentence) is reasoning


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("Who is the builder of Pell Light?", "the builder of Pell Light?"),
        ("Pell Light IS on Orrin, which is small [2].", "Pell Light on Orrin, small."),
        ("What is Isis?", "Isis?"),
        ("who is", ""),
        ("Is how?", "how?"),
        ("?", ""),
        ("", ""),
    ],
)
def test_question_words_leave_the_query(sentence: str, query: str) -> None:
    assert query_from(sentence) == query


@given(st.text())
def test_a_query_asks_for_words_of_the_sentence_only(sentence: str) -> None:
    query = query_from(sentence)
    assert {"who", "what", "when", "where", "why", "which", "how", "does", "is"}.isdisjoint(query.lower().split())
    assert query_from(query) == query
    assert not query or any(word.isalnum() or "_" in word for word in query)
