"""Lines of the exchange format as run records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Document,
    Failure,
    Hit,
    LLMCall,
    Outcome,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    ShownDocument,
)
from experiments.exchange.answer_line import AnswerLine, CallLine, ShownLine

IMPORTED_MODE = "imported"
"""Retrieval mode of a cell whose records come from a file: how it retrieved is its own affair."""

UNSTATED = "unstated"
"""Model of an answer that does not say which one wrote it; it has no price."""


def foreign_record(
    cell: Cell, question: Question, line: AnswerLine | None, documents: Mapping[str, Document]
) -> RunRecord:
    """The record of one question. `line` None: the file passes the question over, which counts as a failure.

    Everything retrieved counts as one retrieval. Tokens that are given for all calls together become one call.
    """
    failure = _failure(line)
    seconds = line.seconds if line else None
    return RunRecord(
        cell,
        question.question_id,
        _outcome(line),
        answer=None if line is None or failure else _answer(line, documents),
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


def _answer(line: AnswerLine, documents: Mapping[str, Document]) -> Answer:
    retrieved, named = tuple(dict.fromkeys(_ranked(line))), line.named_as_used
    used = retrieved if named is None else tuple(dict.fromkeys(named))
    shown = None if line.shown is None else tuple(_shown(one, documents) for one in line.shown)
    return Answer(line.answer, line.abstained, retrieved, used, line.cited_ids, shown)


def _shown(line: ShownLine, documents: Mapping[str, Document]) -> ShownDocument:
    if line.spans or line.text is not None:
        return ShownDocument(line.doc_id, line.spans, line.text)
    return ShownDocument(line.doc_id, ((0, len(documents[line.doc_id].text)),))


def _ranked(line: AnswerLine) -> tuple[str, ...]:
    """What was retrieved; behind it what was shown alone, since nothing is shown that was not retrieved."""
    known = set(line.retrieved_ids)
    return (*line.retrieved_ids, *(one for one in line.named_as_used or () if one not in known))


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
