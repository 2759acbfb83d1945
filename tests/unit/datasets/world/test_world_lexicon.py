from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from arena.datasets.world.grammar import NAME, Kind, Relation, Template
from arena.datasets.world.lexicon import lexicon

KINDS, RELATIONS = lexicon().kinds, lexicon().relations
FUNCTION_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        """a an the and or of in on at to by for from with which what who whose whom when where how many did does do is
        was were are be been it its his her he she him that this these those as than then there into over under not no
        one only first last had has have year people person name between up down out all any some other through""",
    )
)
ENTRIES = [(kind, relation) for kind in KINDS.values() for relation in kind.relations]


def _stems(templates: Iterable[Template]) -> set[str]:
    text = " ".join(re.sub(r"\{[^}]*\}", " ", template.text).lower() for template in templates)
    words = set(re.findall("[a-z]+", text)) - FUNCTION_WORDS
    return {re.sub(r"(?<=[a-z]{4})(ings?|ers?|ed|es|s|e)$", "", word) for word in words}


def _passages(kind: Kind, relation: Relation) -> list[Template]:
    return [template for template in (*kind.openings, *kind.sentences) if relation.key in template.slots]


@pytest.mark.parametrize(("kind", "relation"), ENTRIES, ids=RELATIONS)
def test_questions_avoid_the_words_of_the_passages(kind: Kind, relation: Relation) -> None:
    asked = (*relation.asks, *relation.phrases, *([relation.clause] if relation.clause else []))
    assert not _stems(asked) & _stems(_passages(kind, relation))


@pytest.mark.parametrize(("kind", "relation"), ENTRIES, ids=RELATIONS)
def test_every_relation_has_many_patterns(kind: Kind, relation: Relation) -> None:
    assert len({template.text for template in _passages(kind, relation)}) >= 4
    assert any(template.told == {relation.key} for template in kind.sentences)
    assert len({ask.text for ask in relation.asks}) == 2


@pytest.mark.parametrize(("kind", "relation"), ENTRIES, ids=RELATIONS)
def test_every_relation_between_things_can_be_nested(kind: Kind, relation: Relation) -> None:
    assert any(ask.text.endswith("{x}?") for ask in relation.asks)
    if relation.value in KINDS:
        assert any(phrase.text.endswith("{x}") for phrase in relation.phrases)
    else:
        assert relation.value in ("year", "number")
        assert relation.phrases == ()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_can_open_a_passage_without_a_fact(kind: Kind) -> None:
    assert any(not template.told for template in kind.openings)
    assert all("s" in template.slots for template in kind.openings)
    assert not any(template.told for template in kind.fillers)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_slot_is_known(kind: Kind) -> None:
    for template in (*kind.openings, *kind.sentences, *kind.fillers):
        assert template.told <= kind.by_key.keys()
        lists = {slot[1:] for slot in template.slots if slot[0] == "~"}
        assert lists <= {*lexicon().vocabulary, "year", "number"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_names_look_like_names(kind: Kind) -> None:
    for shape in kind.names:
        assert re.fullmatch(NAME, shape.format(word="Ossel", given="Ossel", family="Ossel"))


def test_the_world_is_varied() -> None:
    assert len(KINDS) >= 10
    assert len(RELATIONS) >= 25
