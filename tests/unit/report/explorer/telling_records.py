"""Records with everything a record can have: lanes, pieces, dropped hits, loops, decisions with parts, failures."""

from __future__ import annotations

from dataclasses import replace

from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Decision,
    Hit,
    LaneHit,
    LLMCall,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    RunRecord,
    Score,
    Verdict,
    VerdictPart,
)
from tests.samples import answered, call, cell, failed, shown_whole

RERANKED = Cell("corrective", "hybrid_rerank", "fake:", {"k": 2, "temperature": 0.0})
PLAIN = cell()
WHOLE = tuple(map(shown_whole, ("d3", "d2")))

REQUEST = RetrievalRequest("Orlen Weir source", "hybrid_rerank", 2, 50, 60, "rrf", None, 0.15)

FOUND = Retrieval(
    REQUEST,
    hits=(
        Hit("d2#0001", "d2", 1, 0.8123, {"dense": LaneHit(3, 0.456), "rerank": LaneHit(1, 0.8123)}, (5, 40)),
        Hit("d3", "d3", 2, -1.5, {"sparse": LaneHit(1, 12.34), "rerank": LaneHit(2, -1.5)}),
    ),
    seconds=RetrievalSeconds(0.01, 0.02, 0.3),
    dropped=(Hit("d1", "d1", 3, 0.00123, {"rerank": LaneHit(3, 0.00123)}),),
    beyond=("d4", "d1#0002"),
)


def looped() -> RunRecord:
    """The same retrieval twice; one call retried and cut off; a branch about a document and one about none."""
    attempts = (CallAttempt(None, None, fault="HTTP 500"), CallAttempt(120, 7, queue_seconds=0.5, service_seconds=0.25))
    cut = LLMCall("generate", "fake:", "0" * 16, attempts, backoff_seconds=1.5, finish_reason="length")
    return RunRecord(
        cell=RERANKED,
        question_id="q1",
        outcome="answered",
        answer=Answer(
            "Ostrand of Tammerhold", False, ("d2", "d3"), ("d3", "d2"), ("d2",), tuple(map(shown_whole, ("d3", "d2")))
        ),
        failure=None,
        retrievals=(FOUND, FOUND),
        calls=(call(role="grade", input_tokens=300), cut),
        decisions=(
            Decision("evaluate", "keep", 0.7, 0.5, "calibrated", ("evidence", "answer"), "T1", "d2", {"p": 0.25}),
            Decision("exit", "cap"),
        ),
        wall_seconds=3.25,
        warm_up=True,
    )


def telling_records() -> list[RunRecord]:
    """Two cells on the small dataset; not question by question, as a run that goes on writes them."""
    shared = replace(answered("q1", "Mirelle Ostrand", ("d1", "d2")), retrievals=(FOUND,), decisions=())
    return [
        looped(),
        answered("q2", "1871", ("d1",), of=RERANKED),
        shared,
        answered("q2", "1872", ("d4", "d1")),
        failed("q3"),
        answered("q5", "I do not know.", ("d2",), of=RERANKED, abstained=True),
        replace(answered("q4", "", ("d2", "d3")), retrievals=()),
    ]


def verdict(subject_sha: str, *, of: Cell = RERANKED, repeat: int = 0) -> Verdict:
    """A judge's word on the answer to q1."""
    return Verdict(
        cell=of.key,
        question_id="q1",
        metric="faithfulness",
        judge="fake:",
        judge_sha="judge_0",
        subject_sha=subject_sha,
        repeat=repeat,
        score=Score("faithfulness", 0.5),
        parts=(VerdictPart("She governs it.", 1.0), VerdictPart("It is old.", None, "judge_failed")),
    )
