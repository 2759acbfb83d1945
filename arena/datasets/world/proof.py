"""Prove a world from its texts alone.

Every passage is read back into facts and every question into a query. What the generator intended is not consulted. A
question with a short answer must have exactly one answer in the facts, an unanswerable one none, and each claim of a
summary exactly its own document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from arena.datasets.world.grammar import (
    REFERENCE_WORDS,
    SHAPES,
    SUMMARY_DOCUMENTS,
    Leaf,
    Meet,
    Query,
    Step,
    innermost,
    profile,
    signature,
)
from arena.datasets.world.lexicon import lexicon
from arena.datasets.world.reading import (
    DocumentReading,
    Fact,
    check_passages,
    read_document,
    understand,
    understand_claim,
    understand_summary,
)
from arena.types import Claim, Dataset, Gold, Question


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value a query leads to and the documents it takes, in the order of the decomposition."""

    value: str
    documents: tuple[str, ...]


class Evidence:
    """Facts, findable by what they are about and by what they say.

    `stating`: (relation, subject) -> the facts that give a value, one a statement. `having`: (relation, value) -> the
    facts that say it. `bearers`: word -> the things, as kind and name, in whose name it occurs.
    """

    def __init__(self, readings: Iterable[DocumentReading]) -> None:
        self.stating: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self.having: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self.bearers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for reading in readings:
            self._enter_name(reading.kind or "", reading.title)
            for fact in reading.facts:
                self.stating[fact.relation, fact.subject].append(fact)
                self.having[fact.relation, fact.value].append(fact)
                self._enter_name(fact.relation.partition(".")[0], fact.subject)
                self._enter_name(lexicon().relations[fact.relation].value, fact.value)

    def mentioning(self, thing: Leaf) -> set[str]:
        """The documents that state a fact about a thing or with it as value."""
        found: set[str] = set()
        for key, relation in lexicon().relations.items():
            if key.startswith(f"{thing.kind}."):
                found.update(fact.doc_id for fact in self.stating[key, thing.name])
            if relation.value == thing.kind:
                found.update(fact.doc_id for fact in self.having[key, thing.name])
        return found

    def derive(self, query: Query, without: str | None = None) -> list[Derivation]:
        """Every derivation of the query over all documents but one."""
        if isinstance(query, Leaf):
            return [Derivation(query.name, ())]
        if isinstance(query, Meet):
            return list(self._meet(query, without))
        return [
            Derivation(fact.value, tuple(dict.fromkeys((*inner.documents, fact.doc_id))))
            for inner in self.derive(query.of, without)
            for fact in self.stating[query.relation, inner.value]
            if fact.doc_id != without
        ]

    def _enter_name(self, kind: str, name: str) -> None:
        for word in name.split():
            self.bearers[word].add((kind, name))

    def _meet(self, query: Meet, without: str | None) -> Iterator[Derivation]:
        for one in self.derive(query.first.of, without):
            for other in self.derive(query.second.of, without):
                for left in self.having[query.first.relation, one.value]:
                    for right in self.having[query.second.relation, other.value]:
                        if left.subject == right.subject and without not in (left.doc_id, right.doc_id):
                            taken = (*one.documents, *other.documents, left.doc_id, right.doc_id)
                            yield Derivation(left.subject, tuple(dict.fromkeys(taken)))


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
        if len(facts := evidence.stating[query.relation, inner.value]) != 1:
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
    outer = innermost(query)
    if not isinstance(outer.of, Meet):
        return
    for arm in (outer.of.first, outer.of.second):
        values = {
            fact.value
            for inner in evidence.derive(arm.of)
            for candidate in evidence.having[arm.relation, inner.value]
            for fact in evidence.stating[outer.relation, candidate.subject]
        }
        if len(values) < 2:
            yield f"{question.question_id}: {arm.relation} alone already decides {outer.relation}"


def _check_aliases(key: str, gold: Gold, query: Step, evidence: Evidence) -> Iterator[str]:
    """An alias is the number with its unit, or a word that occurs in no other name."""
    for alias in gold.answers[1:]:
        unit = lexicon().relations[query.relation].unit
        if unit is not None and alias == f"{gold.answers[0]} {unit}":
            continue
        if evidence.bearers[alias] != {(lexicon().relations[query.relation].value, gold.answers[0])}:
            yield f"{key}: the alias {alias!r} does not mean {gold.answers[0]!r} alone"


def check_summary(question: Question, gold: Gold, evidence: Evidence) -> Iterator[str]:
    """Exactly the gold documents speak of the subject; each makes one claim of the reference, and alone supports it."""
    key = question.question_id
    requests = [request for request in understand_summary(question.text) if evidence.mentioning(request[0])]
    if len(requests) != 1:
        yield f"{key}: {len(requests)} readings of the request {question.text!r}"
        return
    subject, themes = requests[0]
    speaking = evidence.mentioning(subject)
    if len(speaking) != SUMMARY_DOCUMENTS or speaking != set(gold.supporting_ids):
        yield f"{key}: {sorted(speaking)} speak of {subject.name!r}, the gold says {gold.supporting_ids}"
    if tuple(claim.supporting_ids for claim in gold.claims) != tuple((doc_id,) for doc_id in gold.supporting_ids):
        yield f"{key}: the claims are not one for each supporting document"
    if gold.answers != (" ".join(claim.text for claim in gold.claims),):
        yield f"{key}: the reference is not made of the claims"
    words = sum(len(claim.text.split()) for claim in gold.claims)
    if not REFERENCE_WORDS[0] <= words <= REFERENCE_WORDS[1]:
        yield f"{key}: a reference of {words} words"
    told = [thing.kind for claim in gold.claims for thing, _ in understand_claim(claim.text)]
    if sorted(told) != sorted((subject.kind, *themes)):
        yield f"{key}: the claims are about {told}, the request about {subject.kind} and {themes}"
    for claim in gold.claims:
        yield from _check_claim(key, claim, subject, evidence)


def _check_claim(key: str, claim: Claim, subject: Leaf, evidence: Evidence) -> Iterator[str]:
    readings = understand_claim(claim.text)
    if len(readings) != 1:
        yield f"{key}: {len(readings)} readings of the claim {claim.text!r}"
        return
    thing, stated = readings[0]
    if thing != subject and not any(value == subject.name for _, value in stated):
        yield f"{key}: the claim {claim.text!r} is not about {subject.name!r}"
    for relation, value in stated:
        tellers = [fact.doc_id for fact in evidence.stating[relation, thing.name] if fact.value == value]
        if tuple(tellers) != claim.supporting_ids:
            yield f"{key}: {relation} {value!r} is told by {tellers}, not by {claim.supporting_ids} alone"


def check_world(dataset: Dataset) -> list[str]:
    """Every violation found, each naming its document or question; empty when the world is proven sound."""
    readings = [read_document(document) for document in dataset.documents]
    evidence = Evidence(readings)
    return [
        *check_passages(dataset.documents, readings),
        *_check_references(dataset),
        *(problem for question in dataset.questions for problem in _check_question(question, dataset, evidence)),
        *_check_twins(dataset),
    ]


def _check_references(dataset: Dataset) -> Iterator[str]:
    """Question ids are unique and match the gold; gold points to documents of this dataset only."""
    known = {document.doc_id for document in dataset.documents}
    asked = [question.question_id for question in dataset.questions]
    if sorted(set(asked)) != sorted(asked) or set(asked) != set(dataset.gold):
        yield "questions and gold do not belong to each other one to one"
    for key, gold in dataset.gold.items():
        yield from (f"{key}: no document {doc_id!r}" for doc_id in gold.supporting_ids if doc_id not in known)


def _check_question(question: Question, dataset: Dataset, evidence: Evidence) -> Iterator[str]:
    gold = dataset.gold.get(question.question_id)
    if gold is None:
        return
    if question.kind == "summary":
        yield from check_summary(question, gold, evidence)
        return
    queries = understand(question.text)
    if len(queries) != 1:
        yield f"{question.question_id}: {len(queries)} readings of the question {question.text!r}"
    elif question.kind == "unanswerable":
        yield from check_unanswerable(question, gold, queries[0], evidence)
    else:
        yield from check_answerable(question, gold, queries[0], evidence)


def _check_twins(dataset: Dataset) -> Iterator[str]:
    """Each unanswerable question chains the same relations as some answerable one."""
    queries: list[tuple[Question, Step]] = [
        (question, query) for question in dataset.questions for query in understand(question.text)[:1]
    ]
    models = {signature(query) for question, query in queries if question.kind in ("multi_hop", "single_hop")}
    for question, query in queries:
        if question.kind == "unanswerable" and signature(query) not in models:
            yield f"{question.question_id}: it is the twin of no answerable question"
