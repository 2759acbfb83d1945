"""Lines of the exchange format as run records."""

from __future__ import annotations

from collections.abc import Iterator

from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Failure,
    Hit,
    LLMCall,
    Outcome,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
)
from experiments.exchange.answer_line import AnswerLine, CallLine

IMPORTED_MODE = "imported"
"""Retrieval mode of a cell whose records come from a file: how it retrieved is its own affair."""

UNSTATED = "unstated"
"""Model of an answer that does not say which one wrote it; it has no price."""


def foreign_record(cell: Cell, question: Question, line: AnswerLine | None) -> RunRecord:
    """The record of one question. `line` None: the file passes the question over, which counts as a failure.

    Everything retrieved counts as one retrieval. Tokens that are given for all calls together become one call.
    """
    failure = _failure(line)
    seconds = line.seconds if line else None
    return RunRecord(
        cell,
        question.question_id,
        _outcome(line),
        answer=None if line is None or failure else _answer(line),
        failure=failure,
        retrievals=tuple(_retrievals(question, line)) if line else (),
        calls=tuple(_calls(cell, line)) if line else (),
        decisions=(),
        wall_seconds=seconds or 0.0,
        timed=seconds is not None,
    )


def _outcome(line: AnswerLine | None) -> Outcome:
    if line is None or line.error is not None:
        return "failed"
    return "abstained" if line.abstained else "answered"


def _failure(line: AnswerLine | None) -> Failure | None:
    if line is None:
        return Failure("strategy", "NotAnswered", "the imported file has no line for this question")
    return None if line.error is None else Failure("strategy", "ImportedError", line.error)


def _answer(line: AnswerLine) -> Answer:
    retrieved = tuple(dict.fromkeys(_ranked(line)))
    shown = retrieved if line.used_ids is None else tuple(dict.fromkeys(line.used_ids))
    return Answer(line.answer, line.abstained, retrieved, shown, line.cited_ids)


def _ranked(line: AnswerLine) -> tuple[str, ...]:
    """What was retrieved; behind it what was shown alone, since nothing is shown that was not retrieved."""
    known = set(line.retrieved_ids)
    return (*line.retrieved_ids, *(one for one in line.used_ids or () if one not in known))


def _retrievals(question: Question, line: AnswerLine) -> Iterator[Retrieval]:
    """All that came back as one ranking; how much was asked for is what the line says, never how much came."""
    ids = _ranked(line)
    if ids:
        given = line.scores if line.scores is not None and len(line.scores) == len(ids) else None
        scores = given or tuple(1 / rank for rank in range(1, len(ids) + 1))
        hits = (Hit(one, one, rank, score) for rank, (one, score) in enumerate(zip(ids, scores, strict=True), start=1))
        yield Retrieval(RetrievalRequest(question.text, IMPORTED_MODE, line.k), tuple(hits))


def _calls(cell: Cell, line: AnswerLine) -> Iterator[LLMCall]:
    if cell.llm is None:
        return
    total = CallLine(input_tokens=line.input_tokens, output_tokens=line.output_tokens)
    for call in (total,) if line.calls is None else line.calls:
        attempt = CallAttempt(call.input_tokens, call.output_tokens)
        yield LLMCall(call.role, call.model or cell.llm, prompt_sha="", attempts=(attempt,))
