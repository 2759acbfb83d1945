"""The proof of one question with a short answer, or with none."""

from __future__ import annotations

from collections.abc import Iterator

from arena.datasets.world.lexicon import RELATIONS
from arena.datasets.world.proof.evidence import Derivation, Evidence
from arena.datasets.world.query import SHAPES, Leaf, Meet, Query, Step, profile
from arena.types import Gold, Question


def check_answerable(question: Question, gold: Gold, query: Step, evidence: Evidence) -> Iterator[str]:
    """The query has one derivation over all documents, to the gold answer through the gold documents in their order.

    Without any one of these documents it has none, and nothing else states the deciding fact.
    """
    key = question.question_id
    yield from _check_shape(question, query)
    if not gold.answerable or not gold.answers:
        yield f"{key}: the gold has no answer"
        return
    found = evidence.derive(query)
    if found != [Derivation(gold.answers[0], gold.hop_order or ())]:
        yield f"{key}: the documents lead to {found}, the gold says {gold.answers[0]!r} by {gold.hop_order}"
    if gold.supporting_ids != gold.hop_order:
        yield f"{key}: supporting documents {gold.supporting_ids} are not the hops {gold.hop_order}"
    for doc_id in gold.supporting_ids:
        if left := evidence.derive(query, without=doc_id):
            yield f"{key}: without {doc_id} the documents still lead to {left}"
    for inner in evidence.derive(query.of):
        if len(facts := evidence.stating(query.relation, inner.value)) != 1:
            yield f"{key}: {len(facts)} statements of the deciding fact"
    yield from _check_meeting(question, query, evidence)
    yield from _check_aliases(key, gold, query, evidence)


def check_unanswerable(question: Question, gold: Gold, query: Step, evidence: Evidence) -> Iterator[str]:
    """One derivation or a mention leads to what the deciding fact is about; no document states the fact itself."""
    key = question.question_id
    yield from _check_shape(question, query)
    if gold.answerable or gold.answers or gold.supporting_ids:
        yield f"{key}: the gold of an unanswerable question has an answer or evidence"
    if found := evidence.derive(query):
        yield f"{key}: the documents do lead to {found}"
    before = evidence.derive(query.of)
    if len(before) != 1:
        yield f"{key}: {len(before)} derivations of what the deciding fact is about"
    if isinstance(query.of, Leaf) and not evidence.mentioning(query.of):
        yield f"{key}: no document mentions {query.of.name!r}"


def _check_shape(question: Question, query: Step) -> Iterator[str]:
    shape = next((name for name, known in SHAPES.items() if known == profile(query)), None)
    if question.hop_shape != shape or question.hops != (int(shape[0]) if shape else 1):
        yield f"{question.question_id}: {question.hops} hops, {question.hop_shape}, but the question has shape {shape}"
    if question.kind != "unanswerable" and (question.kind == "multi_hop") != (shape is not None):
        yield f"{question.question_id}: a question of shape {shape} is not {question.kind}"


def _check_meeting(question: Question, query: Step, evidence: Evidence) -> Iterator[str]:
    """Each of two meeting facts alone leaves the next answer open."""
    outer: Query = query
    while isinstance(outer, Step) and isinstance(outer.of, Step):
        outer = outer.of
    if not isinstance(outer, Step) or not isinstance(outer.of, Meet):
        return
    for arm in (outer.of.first, outer.of.second):
        values = {
            fact.value
            for inner in evidence.derive(arm.of)
            for candidate in evidence.having(arm.relation, inner.value)
            for fact in evidence.stating(outer.relation, candidate.subject)
        }
        if len(values) < 2:
            yield f"{question.question_id}: {arm.relation} alone already decides {outer.relation}"


def _check_aliases(key: str, gold: Gold, query: Step, evidence: Evidence) -> Iterator[str]:
    """An alias is the number with its unit, or a word that occurs in no other name."""
    for alias in gold.answers[1:]:
        unit = RELATIONS[query.relation].unit
        if unit is not None and alias == f"{gold.answers[0]} {unit}":
            continue
        if evidence.bearers(alias) != {(RELATIONS[query.relation].value, gold.answers[0])}:
            yield f"{key}: the alias {alias!r} does not mean {gold.answers[0]!r} alone"
