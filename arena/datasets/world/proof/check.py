"""The proof of a world, from its texts alone.

Every passage is read back into facts and every question into a query; what the generator intended is not consulted.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.datasets.world.proof.answers import check_answerable, check_unanswerable
from arena.datasets.world.proof.evidence import Evidence
from arena.datasets.world.proof.passages import check_passages
from arena.datasets.world.proof.reading import read_document
from arena.datasets.world.proof.summaries import check_summary
from arena.datasets.world.proof.understanding import understand
from arena.datasets.world.query import Step, signature
from arena.types import Dataset, Question


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
