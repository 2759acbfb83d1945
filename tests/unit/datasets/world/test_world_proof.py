from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena.datasets.world import check_world, make_world
from arena.types import Claim, Dataset, Document, Gold, Question


@pytest.fixture(scope="module")
def world() -> Dataset:
    return make_world(121, 30, 3)


def _first(dataset: Dataset, kind: str) -> tuple[Question, Gold]:
    question = next(question for question in dataset.questions if question.kind == kind)
    return question, dataset.gold[question.question_id]


def _with_gold(dataset: Dataset, gold: Gold) -> Dataset:
    return replace(dataset, gold={**dataset.gold, gold.question_id: gold})


def _with_text(dataset: Dataset, doc_id: str, change: Callable[[str], str]) -> Dataset:
    return replace(
        dataset,
        documents=tuple(
            replace(document, text=change(document.text)) if document.doc_id == doc_id else document
            for document in dataset.documents
        ),
    )


def _text(dataset: Dataset, doc_id: str) -> str:
    return next(document.text for document in dataset.documents if document.doc_id == doc_id)


def _about(problems: list[str], key: str) -> list[str]:
    return [problem for problem in problems if problem.startswith(f"{key}:")]


@pytest.mark.parametrize("kind", ["multi_hop", "single_hop", "summary"])
def test_a_missing_gold_document_is_found(world: Dataset, kind: str) -> None:
    question, gold = _first(world, kind)
    for lost in gold.supporting_ids:
        kept = tuple(document for document in world.documents if document.doc_id != lost)
        problems = _about(check_world(replace(world, documents=kept)), question.question_id)
        assert f"{question.question_id}: no document {lost!r}" in problems
        assert len(problems) > 1


def test_the_deciding_fact_told_twice_is_found(world: Dataset) -> None:
    question, gold = _first(world, "single_hop")
    original = next(document for document in world.documents if document.doc_id == gold.supporting_ids[0])
    copy = Document("copy", original.title, f"{original.text} {original.text.split('. ')[-1]}")
    problems = _about(check_world(replace(world, documents=(*world.documents, copy))), question.question_id)
    assert any("without" in problem for problem in problems)
    assert any("2 statements of the deciding fact" in problem for problem in problems)


def test_a_fact_about_another_thing_slipped_into_a_passage_is_found(world: Dataset) -> None:
    first = next(document for document in world.documents if " is a town on " in document.text.split(".")[0])
    other = next(document.doc_id for document in world.documents if document.title != first.title)
    opening = first.text.split(". ")[0]
    problems = check_world(_with_text(world, other, lambda text: f"{text} {opening}."))
    assert f"town.river of {first.title!r} is told 2 times" in problems


def test_a_sentence_outside_the_grammar_is_found(world: Dataset) -> None:
    doc_id = world.documents[7].doc_id
    problems = check_world(_with_text(world, doc_id, lambda text: f"{text} Some say it all happened elsewhere."))
    assert problems == [f"{doc_id}: 0 readings of the sentence 'Some say it all happened elsewhere'"]


def test_a_swapped_title_is_found(world: Dataset) -> None:
    changed = replace(world.documents[0], title="Nobody")
    problems = check_world(replace(world, documents=(changed, *world.documents[1:])))
    assert any("introduces no 'Nobody'" in problem for problem in problems)


@pytest.mark.parametrize("kind", ["multi_hop", "single_hop"])
def test_an_altered_answer_is_found(world: Dataset, kind: str) -> None:
    question, gold = _first(world, kind)
    problems = check_world(_with_gold(world, replace(gold, answers=("Elsewhere",))))
    assert _about(problems, question.question_id) == problems != []


def test_an_ambiguous_alias_is_found(world: Dataset) -> None:
    question, gold = _first(world, "multi_hop")
    problems = check_world(_with_gold(world, replace(gold, answers=(gold.answers[0], "of"))))
    assert problems == [f"{question.question_id}: the alias 'of' does not mean {gold.answers[0]!r} alone"]


def test_hops_out_of_order_are_found(world: Dataset) -> None:
    question, gold = _first(world, "multi_hop")
    turned = gold.supporting_ids[::-1]
    problems = check_world(_with_gold(world, replace(gold, supporting_ids=turned, hop_order=turned)))
    assert _about(problems, question.question_id) == problems != []


def test_a_document_too_many_in_the_gold_is_found(world: Dataset) -> None:
    question, gold = _first(world, "single_hop")
    extra = next(document.doc_id for document in world.documents if document.doc_id not in gold.supporting_ids)
    more = (*gold.supporting_ids, extra)
    problems = check_world(_with_gold(world, replace(gold, supporting_ids=more, hop_order=more)))
    assert any(f"without {extra} the documents still lead to" in problem for problem in problems)
    assert _about(problems, question.question_id) == problems


def test_an_unanswerable_question_that_has_an_answer_is_found(world: Dataset) -> None:
    question, gold = _first(world, "single_hop")
    claimed = tuple(replace(q, kind="unanswerable") if q == question else q for q in world.questions)
    silent = Gold(question.question_id, (), (), answerable=False)
    problems = check_world(_with_gold(replace(world, questions=claimed), silent))
    assert any("the documents do lead to" in problem for problem in _about(problems, question.question_id))
    assert gold.answers[0] in problems[0]


def test_an_unanswerable_question_out_of_nowhere_is_found(world: Dataset) -> None:
    question, _ = _first(world, "unanswerable")
    asked = replace(question, text="Who taught Nobody Atall?", hops=1, hop_shape=None)
    problems = check_world(replace(world, questions=tuple(asked if q == question else q for q in world.questions)))
    assert f"{question.question_id}: no document mentions 'Nobody Atall'" in problems


def test_a_wrong_shape_is_found(world: Dataset) -> None:
    question, _ = _first(world, "multi_hop")
    changed = replace(question, hop_shape="4hop1" if question.hop_shape != "4hop1" else "2hop")
    problems = check_world(replace(world, questions=tuple(changed if q == question else q for q in world.questions)))
    assert _about(problems, question.question_id) == problems != []


def test_a_question_without_meaning_is_found(world: Dataset) -> None:
    question, _ = _first(world, "single_hop")
    changed = replace(question, text="Why?")
    problems = check_world(replace(world, questions=tuple(changed if q == question else q for q in world.questions)))
    assert f"{question.question_id}: 0 readings of the question 'Why?'" in problems


def test_a_claim_its_document_does_not_make_is_found(world: Dataset) -> None:
    question, gold = _first(world, "summary")
    claims = (Claim(gold.claims[0].text, gold.claims[1].supporting_ids), *gold.claims[1:])
    problems = check_world(_with_gold(world, replace(gold, claims=claims)))
    assert _about(problems, question.question_id) == problems != []


def test_a_sixth_document_about_a_summary_is_found(world: Dataset) -> None:
    question, gold = _first(world, "summary")
    subject = next(document for document in world.documents if document.doc_id == gold.supporting_ids[0])
    extra = replace(subject, doc_id="extra", text=f"{subject.text} {subject.text.split('. ')[0]}.")
    problems = _about(check_world(replace(world, documents=(*world.documents, extra))), question.question_id)
    assert any("speak of" in problem for problem in problems)


@pytest.mark.parametrize("words", [3, 141])
def test_a_passage_of_the_wrong_length_is_found(world: Dataset, words: int) -> None:
    doc_id = world.documents[0].doc_id
    changed = _with_text(world, doc_id, lambda text: " ".join((text.split() * 4)[:words]))
    assert f"{doc_id}: {words} words" in check_world(changed)


def test_equal_ids_and_equal_passages_are_found(world: Dataset) -> None:
    problems = check_world(replace(world, documents=(*world.documents, world.documents[0])))
    assert f"{world.documents[0].doc_id}: the id is used 2 times" in problems
    assert f"{world.documents[0].title!r}: 2 equal passages" in problems


def test_a_missing_homonym_is_found(world: Dataset) -> None:
    titles = [document.title for document in world.documents]
    shared = max(titles, key=titles.count)
    lost = next(document for document in world.documents if document.title == shared)
    kept = tuple(document for document in world.documents if document is not lost)
    assert "0 titles are shared by 6 kinds, not 1" in check_world(replace(world, documents=kept))


def test_gold_without_its_question_is_found(world: Dataset) -> None:
    problems = check_world(replace(world, questions=world.questions[1:]))
    assert "questions and gold do not belong to each other one to one" in problems
