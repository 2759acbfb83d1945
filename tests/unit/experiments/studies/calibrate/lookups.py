"""Runs on the dev part made by hand: questions for one document each, and questions that nothing answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.sampling import Part, part_of
from arena.store import RunStore
from arena.types import (
    Answer,
    Cell,
    Dataset,
    Decision,
    Document,
    Gold,
    Hit,
    Kind,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
)
from tests.samples import call
from tests.unit.experiments.made_runs import made_run

RERANKER = "late_interaction/tiny"
RERANKED = Cell("retrieval_only", "hybrid_rerank", None, {"k": 2, "reranker": RERANKER, "threshold": -100.0})
GOLD, OTHER = "gold", "other"
DOCUMENTS = (Document(GOLD, "Selm Quay", "A quay of three words"), Document(OTHER, "Pell Light", "A light"))


def ids(prefix: str, n: int, part: Part = "dev") -> list[str]:
    """The first n ids of that prefix that belong to the part."""
    fitting = (name for number in count() if part_of(name := f"{prefix}{number}") == part)
    return [next(fitting) for _ in range(n)]


def questions_of(kinds: Sequence[tuple[Kind, int]], part: Part = "dev") -> Iterator[tuple[Question, Gold]]:
    """So many of each kind; all but the unanswerable ones have the one gold document and the answer `right`."""
    for kind, n in kinds:
        for question_id in ids(f"{kind}_", n, part):
            answerable = kind != "unanswerable"
            gold = Gold(question_id, ("right",), (GOLD,)) if answerable else Gold(question_id, (), (), answerable=False)
            yield Question(question_id, f"What of {question_id}?", kind), gold


def lookups(folder: Path, *kinds: tuple[Kind, int]) -> Dataset:
    """A dataset of those questions, with as many of the part eval, written as JSON lines."""
    pairs = [*questions_of(kinds), *questions_of(kinds, "eval")]
    questions, gold = tuple(one for one, _ in pairs), {one.question_id: right for one, right in pairs}
    write_jsonl(Dataset("lookups", DOCUMENTS, questions, gold, fingerprint(DOCUMENTS, questions, gold)), folder)
    return load_dataset(f"jsonl:{folder}")


def dev(dataset: Dataset, kind: Kind) -> list[Question]:
    return [one for one in dataset.questions if one.kind == kind and part_of(one.question_id) == "dev"]


def run_of(folder: Path, dataset: Dataset, records: Sequence[RunRecord], **settings: Any) -> RunStore:
    """A finished run of those records on the part dev."""
    return made_run(folder, dataset.name, dataset, records, **({"sample": {"part": "dev"}} | settings))


def record(
    of: Cell,
    question: Question,
    *,
    text: str | None = None,
    abstained: bool = False,
    retrieval: Retrieval | None = None,
    decisions: Sequence[Decision] = (),
) -> RunRecord:
    return RunRecord(
        cell=of,
        question_id=question.question_id,
        outcome="abstained" if abstained else "answered",
        answer=Answer(text, abstained),
        failure=None,
        retrievals=(retrieval,) if retrieval else (),
        calls=(call(),) if of.llm else (),
        decisions=tuple(decisions),
        wall_seconds=0.1,
    )


def retrieved(
    question: Question, shown: Sequence[tuple[str, float]], dropped: Sequence[tuple[str, float]] = ()
) -> Retrieval:
    """A retrieval of those documents with those scores, by the question itself, two at most."""
    hits = [Hit(doc_id, doc_id, rank, score) for rank, (doc_id, score) in enumerate((*shown, *dropped), 1)]
    request = RetrievalRequest(question.text, "hybrid_rerank", 2)
    return Retrieval(request, tuple(hits[: len(shown)]), dropped=tuple(hits[len(shown) :]))


def reranked(question: Question, gold: float, other: float) -> RunRecord:
    """What the reranker made of the two documents."""
    scores = sorted([(GOLD, gold), (OTHER, other)], key=lambda one: -one[1])
    return record(RERANKED, question, retrieval=retrieved(question, scores))
