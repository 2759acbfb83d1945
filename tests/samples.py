"""Hand-made records that tests share. Small enough to work out every expected value on paper."""

from __future__ import annotations

from typing import Any

from arena.datasets.records import fingerprint
from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Claim,
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

DOCUMENTS = (
    Document("d1", "Orlen Weir", "Orlen Weir is a river that rises near Tammerhold and was bridged in 1871."),
    Document("d2", "Tammerhold", "Tammerhold is a hill town governed by Mirelle Ostrand, a former glassblower."),
    Document("d3", "Mirelle Ostrand", "Mirelle Ostrand trained at the Quennick School before she entered politics."),
    Document("d4", "Quennick School", "The Quennick School teaches glassblowing and lies on the Sarn estuary."),
)

QUESTIONS = (
    Question("q1", "Who governs the town near the source of the Orlen Weir?", "multi_hop", 2, "2hop"),
    Question("q2", "When was a bridge put across the Orlen Weir?", "single_hop", 1),
    Question("q3", "Where does the Quennick School stand?", "single_hop", 1),
    Question("q4", "Give an account of Tammerhold and its governor.", "summary"),
    Question("q5", "Who founded the guild of Tammerhold?", "unanswerable"),
)

GOLD = {
    "q1": Gold("q1", ("Mirelle Ostrand", "Ostrand"), ("d1", "d2"), ("d1", "d2")),
    "q2": Gold("q2", ("1871",), ("d1",), ("d1",)),
    "q3": Gold("q3", ("Sarn estuary", "the Sarn estuary"), ("d4",), ("d4",)),
    "q4": Gold(
        "q4",
        ("Tammerhold is a hill town governed by Mirelle Ostrand, who trained at the Quennick School.",),
        ("d2", "d3"),
        claims=(Claim("Tammerhold is governed by Mirelle Ostrand.", ("d2",)),),
    ),
    "q5": Gold("q5", (), (), answerable=False),
}


def small_dataset(name: str = "small") -> Dataset:
    """The records above as a dataset."""
    return Dataset(name, DOCUMENTS, QUESTIONS, GOLD, fingerprint(DOCUMENTS, QUESTIONS, GOLD))


def call(
    *,
    input_tokens: int | None = 100,
    output_tokens: int | None = 5,
    queue_seconds: float = 0.0,
    service_seconds: float = 0.2,
    **changes: Any,
) -> LLMCall:
    """A ledger entry of one attempt, with known usage; `changes` are fields of the entry."""
    one = CallAttempt(input_tokens, output_tokens, queue_seconds=queue_seconds, service_seconds=service_seconds)
    return LLMCall(**({"role": "generate", "model": "fake:", "prompt_sha": "0" * 16, "attempts": (one,)} | changes))


def shown_whole(doc_id: str) -> ShownDocument:
    """All of a document; of one that is not among `DOCUMENTS`, however long it is."""
    length = next((len(one.text) for one in DOCUMENTS if one.doc_id == doc_id), 1_000_000)
    return ShownDocument(doc_id, ((0, length),))


def cell(strategy: str = "vanilla", mode: str = "dense") -> Cell:
    """A cell with a model."""
    return Cell(strategy, mode, "fake:", {"k": 5, "temperature": 0.0})


def answered(
    question_id: str, text: str, used: tuple[str, ...] = (), *, of: Cell | None = None, abstained: bool = False
) -> RunRecord:
    """A record whose first retrieval brought exactly `used`."""
    hits = tuple(
        Hit(doc_id, doc_id, rank, 1.0 / rank, {"dense": LaneHit(rank, 1.0 / rank)})
        for rank, doc_id in enumerate(used, 1)
    )
    return RunRecord(
        cell=of or cell(),
        question_id=question_id,
        outcome="abstained" if abstained else "answered",
        answer=Answer(text, abstained, used, used, used[:1], tuple(map(shown_whole, used))),
        failure=None,
        retrievals=(Retrieval(RetrievalRequest("q", "dense", 5), hits, RetrievalSeconds(0.01, 0.02)),),
        calls=(call(),),
        decisions=(Decision("route", "once", 0.4, 0.5, "paper", ("evidence",)),),
        wall_seconds=0.5,
    )


def failed(question_id: str, *, of: Cell | None = None) -> RunRecord:
    """A record of a question whose model call failed."""
    return RunRecord(
        cell=of or cell(),
        question_id=question_id,
        outcome="failed",
        answer=None,
        failure=Failure("model", "ModelCallError", "generate: HTTP 500 after 4 attempts"),
        retrievals=(),
        calls=(call(input_tokens=None, output_tokens=None, error="HTTP 500"),),
        decisions=(),
        wall_seconds=2.0,
    )
