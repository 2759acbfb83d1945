"""The records that flow through the arena, from left to right and never back.

    Document -> Passage -> Hit -> Retrieval
    Question -> Task -> (strategy) -> Attempt -> RunRecord -> Score
                                                  RunRecord -> (judge) -> Verdict -> Score

    Gold meets RunRecord in scoring only; no strategy can reach it.

Undefined and unknown are None, never 0. Durations are seconds of a monotonic clock.
"""

from arena.text import ends_in_reasoning, holds_reasoning, well_formed, without_reasoning
from arena.types.data import (
    KINDS,
    AnswerStyle,
    Claim,
    Dataset,
    Document,
    Gold,
    GoldSentence,
    Kind,
    Passage,
    Question,
    Scalar,
    Task,
)
from arena.types.evidence import Hit, LaneHit, Retrieval, RetrievalRequest, RetrievalSeconds, ShownDocument
from arena.types.run import (
    FIT,
    GOLD_MODE,
    LIVE_MODE,
    MOST_COUNTED,
    NO_RETRIEVAL_MODE,
    Answer,
    Attempt,
    CallAttempt,
    Cell,
    Decision,
    Failure,
    LLMCall,
    Outcome,
    PaidAttempt,
    Purpose,
    RunRecord,
    Stage,
    Tier,
    cut_before_speaking,
    known_count,
    sum_known,
    was_cut,
)
from arena.types.score import JudgeMetric, Partial, Score, Verdict, VerdictPart

__all__ = [
    "FIT",
    "GOLD_MODE",
    "KINDS",
    "LIVE_MODE",
    "MOST_COUNTED",
    "NO_RETRIEVAL_MODE",
    "Answer",
    "AnswerStyle",
    "Attempt",
    "CallAttempt",
    "Cell",
    "Claim",
    "Dataset",
    "Decision",
    "Document",
    "Failure",
    "Gold",
    "GoldSentence",
    "Hit",
    "JudgeMetric",
    "Kind",
    "LLMCall",
    "LaneHit",
    "Outcome",
    "PaidAttempt",
    "Partial",
    "Passage",
    "Purpose",
    "Question",
    "Retrieval",
    "RetrievalRequest",
    "RetrievalSeconds",
    "RunRecord",
    "Scalar",
    "Score",
    "ShownDocument",
    "Stage",
    "Task",
    "Tier",
    "Verdict",
    "VerdictPart",
    "cut_before_speaking",
    "ends_in_reasoning",
    "holds_reasoning",
    "known_count",
    "sum_known",
    "was_cut",
    "well_formed",
    "without_reasoning",
]
