from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena.datasets.world.grammar import SHAPES, Leaf, Meet, Step, profile, signature
from arena.datasets.world.graph import Graph, Namer, Thing, aliases, apportion, build_graph
from arena.datasets.world.lexicon import lexicon
from arena.datasets.world.passages import ask, passage
from arena.datasets.world.questions import Sampler
from arena.datasets.world.reading import read_document, understand
from arena.types import Document

WEIGHTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(1, 50), min_size=1, max_size=8)


@given(total=st.integers(0, 500), weights=WEIGHTS, at_least=st.integers(0, 3))
def test_shares_add_up_and_stay_near_their_quota(total: int, weights: dict[str, int], at_least: int) -> None:
    plain = apportion(total, weights)
    raised = apportion(total, weights, at_least)
    assert sum(plain.values()) == sum(raised.values()) == total
    for key, weight in weights.items():
        assert abs(plain[key] - total * weight / sum(weights.values())) < 1
    if total >= at_least * len(weights):
        assert min(raised.values()) >= at_least


def test_shares_are_exact_where_they_divide() -> None:
    assert apportion(60, {"a": 36, "b": 9, "c": 6, "d": 9}) == {"a": 36, "b": 9, "c": 6, "d": 9}
    assert apportion(4, {"a": 100, "b": 1, "c": 1}, at_least=1) == {"a": 2, "b": 1, "c": 1}


def test_names_are_unique_within_a_kind_even_for_a_large_world() -> None:
    namer = Namer(Random(7))
    names = [namer.name(kind) for kind in lexicon().kinds.values() for _ in range(1700)]
    assert len(set(names)) == len(names)
    assert not {word.lower() for name in names for word in name.split()} & lexicon().known_words


def test_a_name_is_claimed_once_for_each_kind() -> None:
    namer = Namer(Random(1))
    assert namer.claim(lexicon().kinds["ship"], "Corrin Vale")
    assert namer.claim(lexicon().kinds["album"], "Corrin Vale")
    assert not namer.claim(lexicon().kinds["ship"], "Corrin Vale")


def test_an_alias_is_a_word_no_other_name_has() -> None:
    bearers = Counter({"Orlen": 1, "Vask": 1, "River": 9, "Corrin": 2, "Ossel": 1})
    assert aliases(lexicon().kinds["person"], "Orlen Vask", bearers) == ("Vask",)
    assert aliases(lexicon().kinds["river"], "River Corrin", bearers) == ()
    assert aliases(lexicon().kinds["river"], "River Ossel", bearers) == ("Ossel",)
    assert aliases(lexicon().kinds["town"], "Ossel", bearers) == ()


def _facts(thing: Thing) -> set[tuple[str, str]]:
    return {
        (f"{thing.kind.key}.{key}", value.name if isinstance(value, Thing) else str(value))
        for key, value in thing.facts.items()
    }


def _graph(seed: int) -> Graph:
    return build_graph(150, 4, Random(seed))


def test_passages_read_back_to_the_facts_they_were_made_of() -> None:
    rng = Random(5)
    for thing in _graph(2).things:
        for _ in range(5):
            reading = read_document(Document("d", thing.name, passage(thing, rng)))
            assert reading.problems == ()
            assert reading.kind == thing.kind.key
            assert sorted((fact.relation, fact.value) for fact in reading.facts) == sorted(_facts(thing))
            assert {fact.subject for fact in reading.facts} <= {thing.name}


def test_questions_read_back_to_the_queries_they_were_made_of() -> None:
    rng = Random(5)
    sampler = Sampler(build_graph(600, 4, Random(3)), rng)
    for shape in [*SHAPES, None]:
        for _ in range(8):
            found = sampler.answerable(shape)
            assert understand(ask(found.query, rng)) == [found.query]
            assert profile(found.query) == (SHAPES[shape] if shape else (1,))
            assert len(found.hops) == len(set(found.hops)) == (int(shape[0]) if shape else 1)


def test_a_twin_chains_the_same_relations_to_a_thing_without_a_document() -> None:
    graph = build_graph(600, 4, Random(3))
    sampler = Sampler(graph, Random(5))
    twins = [(found, sampler.twin(found)) for found in (sampler.answerable("2hop") for _ in range(30))]
    made = [(found, twin) for found, twin in twins if twin is not None]
    assert made
    for found, twin in made:
        assert signature(twin) == signature(found.query)
        assert twin != found.query


def test_nobody_acts_before_being_born_or_learns_from_the_younger() -> None:
    for thing in _graph(4).things:
        years = [value for key, value in thing.facts.items() if thing.kind.by_key[key].value == "year"]
        people = [value for value in thing.facts.values() if isinstance(value, Thing) and value.kind.key == "person"]
        births = [born for person in people if isinstance(born := person.facts.get("born"), int)]
        assert all(year > birth for year in years if isinstance(year, int) for birth in births)


def test_exactly_four_others_speak_of_a_subject() -> None:
    graph = _graph(6)
    assert len(graph.subjects) == 4
    for subject in graph.subjects:
        speaking = [source for source, _ in graph.pointing_at[subject]]
        assert len({source.kind.key for source in speaking}) == len(speaking) == 4
        assert subject not in speaking


def test_a_meeting_is_asked_with_both_clauses() -> None:
    query = Step(
        "ship.launched",
        Meet(
            Step("ship.yard", Step("person.birthplace", Leaf("person", "Orlen Vask"))),
            Step("ship.captain", Step("person.mentor", Leaf("person", "Mira Tosk"))),
        ),
    )
    question = ask(query, Random(0))
    assert question == (
        "What year saw the maiden outing of the vessel put together in the childhood home of Orlen Vask "
        "and steered by the teacher of Mira Tosk?"
    )
    assert profile(query) == SHAPES["3hop2"]


def test_every_relation_can_be_asked_and_understood() -> None:
    for key in lexicon().relations:
        for seed in range(4):
            query = Step(key, Leaf(key.partition(".")[0], "Corrin Vale"))
            assert understand(ask(query, Random(seed))) == [query]
