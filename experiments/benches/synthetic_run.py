"""The records of a large run that nobody ran: plausible evidence, answers and ledgers over a generated world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from arena.datasets.world import make_world
from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Dataset,
    Decision,
    Document,
    Failure,
    Gold,
    Hit,
    LaneHit,
    LLMCall,
    Question,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    RunRecord,
    ShownDocument,
)

K, DEPTH = 5, 50
MODES = ("dense", "hybrid", "hybrid_rerank")


@dataclass(frozen=True, slots=True)
class Habit:
    """How often a strategy retrieves, the roles of its calls after each retrieval, and how often it is right."""

    strategy: str
    retrievals: int
    roles: tuple[str, ...]
    right: float


HABITS = (
    Habit("vanilla", 1, ("generate",), 0.35),
    Habit("corrective", 2, ("grade_relevance", "grade_relevance", "generate"), 0.4),
    Habit("self_rag", 1, ("retrieve_on_demand", *("grade_relevance", "grade_support") * K, "generate"), 0.38),
    Habit("ircot", 3, ("reason",), 0.5),
)
"""With three modes, twelve cells; 5.5 calls and 1.75 retrievals a question."""


def synthetic_world(questions: int) -> Dataset:
    """A world of MuSiQue's density: about six documents a question."""
    documents = max(100, 21_100 * questions // 3_356)
    world = make_world(documents, questions, 7)
    return Dataset(f"world:{documents}:7", world.documents, world.questions, world.gold, world.fingerprint)


def synthetic_records(dataset: Dataset, seed: int = 0) -> Iterator[RunRecord]:
    """One record for every question in each of twelve cells, question by question; every 100th failed."""
    rng = Random(seed)
    cells = [
        (habit, Cell(habit.strategy, mode, "fake:", {"k": K, "temperature": 0.0})) for mode in MODES for habit in HABITS
    ]
    whole = {one.doc_id: ShownDocument(one.doc_id, ((0, len(one.text)),)) for one in dataset.documents}
    answers = [gold.answers[0] for gold in dataset.gold.values() if gold.answers]
    for question in dataset.questions:
        gold = dataset.gold[question.question_id]
        for habit, cell in cells:
            record = _record(habit, cell, question, gold, dataset.documents, rng.choice(answers), rng)
            if (answer := record.answer) is not None:
                record = replace(record, answer=replace(answer, shown=tuple(map(whole.__getitem__, answer.used_ids))))
            yield record


def _record(
    habit: Habit, cell: Cell, question: Question, gold: Gold, documents: Sequence[Document], wrong: str, rng: Random
) -> RunRecord:
    calls = tuple(_call(role, rng) for _ in range(habit.retrievals) for role in habit.roles)
    if rng.random() < 0.01:
        failure = Failure("model", "ModelCallError", "generate: HTTP 500 after 7 attempts")
        return RunRecord(cell, question.question_id, "failed", None, failure, (), calls[:1], (), 1.0)
    found = tuple(_retrieval(question.text, cell.retrieval_mode, gold, documents, rng) for _ in range(habit.retrievals))
    used = tuple(dict.fromkeys(hit.doc_id for hit in found[-1].hits))
    seen = tuple(dict.fromkeys(hit.doc_id for retrieval in found for hit in retrieval.hits))
    abstained = rng.random() < 0.08
    text = "I do not know." if abstained else f"It is {gold.answers[0]}." if _is_right(habit, gold, rng) else wrong
    return RunRecord(
        cell=cell,
        question_id=question.question_id,
        outcome="abstained" if abstained else "answered",
        answer=Answer(text, abstained, seen, used, used[:1]),
        failure=None,
        retrievals=found,
        calls=calls,
        decisions=tuple(
            Decision(role, "yes", rng.random(), 0.5, "paper", ("evidence",), "T1", doc_id)
            for role, doc_id in zip(habit.roles[1:], used, strict=False)
        ),
        wall_seconds=rng.uniform(0.5, 4.0),
    )


def _is_right(habit: Habit, gold: Gold, rng: Random) -> bool:
    return bool(gold.answers) and rng.random() < habit.right


def _retrieval(query: str, mode: str, gold: Gold, documents: Sequence[Document], rng: Random) -> Retrieval:
    ids = [doc_id for doc_id in gold.supporting_ids if rng.random() < 0.6]
    ids += [document.doc_id for document in rng.sample(documents, DEPTH) if document.doc_id not in gold.supporting_ids]
    top = sorted(ids[:K], key=lambda _: rng.random())
    names = ("dense",) if mode == "dense" else ("dense", "sparse", "rerank")[: MODES.index(mode) + 1]
    hits = tuple(
        Hit(doc_id, doc_id, rank, 1.0 / rank, {name: LaneHit(rank, rng.random()) for name in names})
        for rank, doc_id in enumerate(top, start=1)
    )
    fused = mode != "dense"
    request = RetrievalRequest(
        query, mode, K, DEPTH if fused else None, 60 if fused else None, "rrf" if fused else None
    )
    beyond = tuple(ids[K:DEPTH]) if fused else ()
    return Retrieval(request, hits, RetrievalSeconds(0.01, 0.005, started=rng.random()), beyond=beyond)


def _call(role: str, rng: Random) -> LLMCall:
    seconds = rng.uniform(0.1, 0.4)
    attempt = CallAttempt(rng.randrange(200, 900), rng.randrange(1, 40), None, None, 0.01, seconds)
    sha = f"{rng.getrandbits(64):016x}"
    return LLMCall(role, "fake:", sha, (attempt,), started_seconds=rng.random(), finish_reason="stop")
