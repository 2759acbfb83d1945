"""The classes of the failure taxonomy, in the order of a waterfall: what can go wrong first stands first.

Each question has exactly one: where evidence is missing, `stopped_by_cap` and `wrong_route` go before the classes that
say how far it got; no other rules overlap. "Wrong" is an answerable question whose answer is none of
`correct`, `answered_without_evidence`, `format_only`, `judge_failed`, `unscored`; an abstention is wrong. In a cell
that writes nothing, it is one whose evidence was not all handed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FailureStage = Literal["system", "retrieval", "controller", "reader", "form", "untold", "right"]
"""Where an answer went wrong, from left to right; `untold`: gold cannot say; `right`: nothing went wrong."""


@dataclass(frozen=True, slots=True)
class FailureClass:
    """What a question can have come to. `rule`: when it is this one; `remedy`: where to act (empty: nothing to do)."""

    name: str
    stage: FailureStage
    meaning: str
    rule: str
    remedy: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong that is known to have. `unscored` may be either, and is not counted as one."""
        return self.stage != "right" and self.name != "unscored"


@dataclass(frozen=True, slots=True)
class FailureFinding:
    """The class of one question.

    `hop`: number, from 1, of the first hop whose evidence the answer was written without (None: all was shown, or the
    dataset gives no order); `doc_id`: the document that carries it.
    """

    failure: str
    hop: int | None = None
    doc_id: str | None = None


_TABLE = (
    FailureClass(
        "provider_failed",
        "system",
        "a call to the model failed",
        "The record is a failure of stage `model`.",
        "the provider: limits, retries, the reply format it is asked for",
    ),
    FailureClass(
        "timed_out",
        "system",
        "the question ran out of time",
        "The record is a failure of stage `timeout`.",
        "question_timeout_seconds, or a cheaper setting of the strategy",
    ),
    FailureClass(
        "strategy_failed",
        "system",
        "the strategy broke down",
        "The record is a failure of stage `strategy`, other than a spent allowance.",
        "the strategy: see `failure` in records.jsonl",
    ),
    FailureClass(
        "stopped_by_cap",
        "system",
        "a cap ended the search before the evidence was together",
        "The record failed because its allowance was spent; or the answer is wrong, and its allowance was spent, or "
        "the first missing hop was retrieved and had no room, or a loop was ended by its cap although its last "
        "retrieval had just brought new gold.",
        "the cap: calls or tokens per question, steps or passages of the loop",
    ),
    FailureClass(
        "wrong_route",
        "controller",
        "a controller chose a way on which the evidence cannot be found",
        "Wrong, evidence missing, and the cell could retrieve but never asked; or the question was labelled for one "
        "retrieval (`classify` B) and has several hops.",
        "the controller that routes: its thresholds, its judge",
    ),
    FailureClass(
        "index_miss",
        "retrieval",
        "the evidence was among no candidates",
        "Wrong, and the first missing hop is in no retrieval, neither its hits nor its candidates, and no other "
        "evidence was shown that leads to it.",
        "embedding, chunking, the sparse lane, the depth of the lanes",
    ),
    FailureClass(
        "rank_miss",
        "retrieval",
        "the evidence was found and ranked too low",
        "Wrong, and the first missing hop is at best among the candidates that k had no room for.",
        "a reranker, or a larger k; for a later hop, a strategy that asks again",
    ),
    FailureClass(
        "incomplete_chain",
        "retrieval",
        "the chain of evidence breaks at a later hop",
        "Wrong, and the first missing hop is in no retrieval, although the hops before it were shown (without an "
        "order: although other evidence was).",
        "a strategy that asks again with what it has read",
    ),
    FailureClass(
        "dropped_by_reranker",
        "retrieval",
        "the reranker scored the evidence under its threshold",
        "Wrong, and the first missing hop is at best among what a reranker dropped.",
        "the reranker's threshold, or the reranker",
    ),
    FailureClass(
        "dropped_by_grader",
        "controller",
        "the evidence was retrieved and not handed to the reader",
        "Wrong, and the first missing hop is among the hits of a retrieval.",
        "the grader: its threshold, its judge, how it refines",
    ),
    FailureClass(
        "withheld_by_control",
        "retrieval",
        "the control kept the evidence back",
        "Wrong, and the first missing hop is in no retrieval, in a cell that is handed its documents.",
        "nothing: this cell shows what the evidence is worth",
    ),
    FailureClass(
        "false_abstention",
        "reader",
        "it abstained although no evidence is known to be missing",
        "Abstained on an answerable question, all evidence shown (or none named).",
        "the reader, or the abstention in its prompt",
    ),
    FailureClass(
        "false_answer",
        "reader",
        "it answered what cannot be answered",
        "Answered an unanswerable question.",
        "the reader, or the abstention in its prompt; a check of sufficiency",
    ),
    FailureClass(
        "not_in_memory",
        "reader",
        "the model does not know it by heart",
        "Wrong or abstained, in a cell that never retrieves.",
        "retrieval: this cell is the floor",
    ),
    FailureClass(
        "shown_but_ignored",
        "reader",
        "the answer was taken from a distractor",
        "Wrong, all evidence shown, and the answer stands in a passage that is no evidence and in none that is.",
        "fewer passages, better order, a stronger reader",
    ),
    FailureClass(
        "reader_miss",
        "reader",
        "the wrong fact was read out of the right evidence",
        "Wrong, all evidence shown, and neither `shown_but_ignored` nor `hallucination`.",
        "the reader, or its prompt",
    ),
    FailureClass(
        "hallucination",
        "reader",
        "the answer's content is in no shown passage",
        "Wrong, all evidence shown (or none named), and the shown passages together do not hold the answer.",
        "the reader; a check of faithfulness",
    ),
    FailureClass(
        "format_only",
        "form",
        "right, but not in the form exact match asks for",
        "Exact match is 0, and a gold answer that the question does not hold stands in the answer, or their token F1 "
        "is high.",
        "the prompt's answer format; or report F1 and containment",
    ),
    FailureClass(
        "unexplained",
        "untold",
        "wrong, and the dataset names no evidence that would say why",
        "Wrong, no supporting documents known, and not `hallucination`.",
        "gold: name the supporting documents",
    ),
    FailureClass(
        "judge_failed",
        "untold",
        "only a judge could tell, and it did not",
        "A summary that was to be judged and has no verdict.",
        "the judge: see verdicts.jsonl",
    ),
    FailureClass(
        "unscored",
        "untold",
        "nobody can tell from gold whether it is right",
        "A summary that no judge was asked about, or a cell that writes nothing where no evidence is named.",
        "a judge, or gold",
    ),
    FailureClass(
        "answered_without_evidence",
        "right",
        "right, but from memory or by luck",
        "Exact match, in a cell that could retrieve, with evidence missing and the answer in no shown passage.",
        "nothing is wrong, and nothing is owed to retrieval",
    ),
    FailureClass(
        "correct_abstention",
        "right",
        "it abstained where nobody can answer",
        "Abstained on an unanswerable question.",
    ),
    FailureClass(
        "evidence_found",
        "right",
        "all evidence was handed over; the cell writes nothing",
        "The cell writes no answers by design, and all evidence was shown.",
    ),
    FailureClass(
        "correct",
        "right",
        "right",
        "Exact match, or a summary that its judge calls right, and not `answered_without_evidence`.",
    ),
)

CLASSES: Mapping[str, FailureClass] = {one.name: one for one in _TABLE}
"""Class name -> class, in waterfall order; the last ones are right."""
