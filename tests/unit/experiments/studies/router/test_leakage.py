from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from arena.types import Gold, Question
from experiments.studies.router.data import families, keep_apart, links


def question(question_id: str, text: str | None = None) -> Question:
    return Question(question_id, text or f"What of {question_id}?", "multi_hop", 2)


def gold(*pairs: tuple[str, Sequence[str]]) -> dict[str, Gold]:
    return {question_id: Gold(question_id, ("x",), tuple(documents)) for question_id, documents in pairs}


def test_every_planted_overlap_is_caught_and_named() -> None:
    tested = [question("2hop__11_12", "Who governs Tammerhold?")]
    candidates = [
        question("2hop__21_22"),
        question("2hop__12_31"),
        question("q-same", "who governs the TAMMERHOLD"),
        question("q-paragraph"),
        question("2hop__11_12#unanswerable", "Another wording?"),
    ]
    known = gold(
        ("2hop__11_12", ["d1", "d2"]),
        ("2hop__21_22", ["d3"]),
        ("2hop__12_31", ["d4"]),
        ("q-same", ["d5"]),
        ("q-paragraph", ["d6", "d2"]),
        ("2hop__11_12#unanswerable", []),
    )
    apart = keep_apart(candidates, tested, known)
    assert [one.question_id for one in apart.kept] == ["2hop__21_22"]
    assert apart.out == {
        "2hop__12_31": ("shared sub-question",),
        "q-same": ("same wording",),
        "q-paragraph": ("shared paragraph",),
        "2hop__11_12#unanswerable": ("a test question itself", "shared sub-question"),
    }
    assert apart.counts == {
        "shared sub-question": 2,
        "same wording": 1,
        "shared paragraph": 1,
        "a test question itself": 1,
    }


def test_a_world_id_names_no_sub_question() -> None:
    kinds = [kind for kind, _ in links(question("2hop__000123"), Gold("2hop__000123", ("x",), ("d1", "d2")))]
    assert kinds == ["a test question itself", "same wording", "shared paragraph", "shared paragraph"]


def test_the_hops_documents_count_beside_the_supporting_ones() -> None:
    known = {"a": Gold("a", ("x",), ("d1",), ("d1", "d9")), "b": Gold("b", ("x",), ("d9",))}
    assert keep_apart([question("a")], [question("b")], known).out == {"a": ("shared paragraph",)}


def test_without_test_questions_nothing_is_kept_out() -> None:
    apart = keep_apart([question("a")], [], gold(("a", ["d1"])))
    assert (len(apart.kept), dict(apart.out), dict(apart.counts)) == (1, {}, {})


def test_families_hang_together_at_any_remove() -> None:
    asked = [question(name) for name in ("a", "b", "c", "d")]
    known = gold(("a", ["d1"]), ("b", ["d2"]), ("c", ["d1", "d3"]), ("d", ["d3"]))
    assert families(asked, known) == [0, 1, 0, 0]


@given(st.lists(st.sets(st.integers(0, 8), max_size=3), max_size=12))
def test_two_questions_with_a_document_in_common_are_of_one_family(documents: list[set[int]]) -> None:
    asked = [question(f"q{place}") for place in range(len(documents))]
    known = gold(*((one.question_id, [str(d) for d in ids]) for one, ids in zip(asked, documents, strict=True)))
    found = families(asked, known)
    assert set(found) == set(range(len(set(found))))
    for one, of_one in zip(documents, found, strict=True):
        for two, of_two in zip(documents, found, strict=True):
            assert not one & two or of_one == of_two
