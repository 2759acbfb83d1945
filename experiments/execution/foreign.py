"""The exchange format: one line says what a system did with one question, and becomes a run record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.datasets.records import FileRow, read_records
from arena.errors import DatasetError, nearest, problem_text
from arena.types import (
    ALL_CALLS,
    IMPORTED_MODE,
    MOST_COUNTED,
    UNMAPPED,
    Answer,
    CallAttempt,
    Cell,
    Dataset,
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

_SHOWN = 3

_Tokens = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
"""Tokens of one question; more are a mistake, and their sums would leave the columns of a table."""
_Span = Annotated[tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]], Field(strict=False)]
_Seconds = Annotated[float, Field(ge=0, le=1e9)]
_Ids = Annotated[tuple[str, ...], Field(strict=False)]  # of strict models a list is no tuple


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class CallLine(_Strict):
    """One model call. Tokens are None where the system does not know them."""

    role: str = "imported"
    model: str | None = Field(default=None, description="As PROVIDER:NAME where it is to be priced.")
    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None


class ShownLine(_Strict):
    """What of one document the model was shown: `spans` of its text in characters, end exclusive, or the `text` itself.

    Neither: all of it.
    """

    doc_id: str
    spans: Annotated[tuple[_Span, ...], Field(strict=False)] = ()
    text: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.spans and self.text is not None:
            raise ValueError("it has spans and a text: leave one of them out")
        if any(start > end for start, end in self.spans):
            raise ValueError(f"a span ends before it begins in {list(map(list, self.spans))}")
        return self


class AnswerLine(_Strict):
    """What one system did with one question.

    Ids are those of the dataset's documents, best first. `used_ids`: the documents shown to the model for its answer
    (None: those of `shown`, else all that were retrieved). `shown`: what of each the model was shown (None: not known,
    and what is measured on the texts has no value). `k`: how many documents the system asks for, the same in all lines
    (None: what it retrieves is its whole answer). Tokens of all calls together, or `calls`, one by one; neither:
    unknown. `seconds`: from the question to the answer (None: unknown). `error`: why there is no answer.
    """

    question_id: str
    answer: str | None = None
    abstained: bool = False
    retrieved_ids: _Ids = ()
    scores: Annotated[tuple[float, ...], Field(strict=False)] | None = None
    used_ids: _Ids | None = None
    cited_ids: _Ids = ()
    shown: Annotated[tuple[ShownLine, ...], Field(strict=False)] | None = None
    k: Annotated[int, Field(ge=1, le=10**9)] | None = None
    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    calls: Annotated[tuple[CallLine, ...], Field(strict=False)] | None = None
    seconds: _Seconds | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.error is not None and (self.answer is not None or self.abstained):
            raise ValueError("it has an error and an answer: leave one of them out")
        if self.scores is not None and len(self.scores) != len(self.retrieved_ids):
            raise ValueError(f"scores has {len(self.scores)} numbers for {len(self.retrieved_ids)} retrieved_ids")
        if self.calls is not None and (self.input_tokens, self.output_tokens) != (None, None):
            raise ValueError("tokens are given twice, of the question and in calls: leave one of them out")
        self._check_shown()
        return self

    @property
    def tells_evidence(self) -> bool:
        """Whether the line says what was retrieved or shown, if only that nothing was."""
        stated = ("retrieved_ids", "used_ids", "shown")
        return any(name in self.model_fields_set and getattr(self, name) is not None for name in stated)

    @property
    def named_as_used(self) -> tuple[str, ...] | None:
        """The documents that the line says were shown; None = it says nothing of it."""
        return self.used_ids if self.shown is None else tuple(one.doc_id for one in self.shown)

    def _check_shown(self) -> None:
        if self.shown is None:
            return
        ids = tuple(one.doc_id for one in self.shown)
        if len(set(ids)) < len(ids):
            raise ValueError("shown names a document twice: put all that was shown of it in one entry")
        if self.used_ids is not None and tuple(dict.fromkeys(self.used_ids)) != ids:
            raise ValueError("shown and used_ids name other documents, or in another order: leave used_ids out")


def read_answers(path: Path, dataset: Dataset) -> dict[str, AnswerLine]:
    """Question id -> line of a file of JSON lines.

    Raises:
        DatasetError: a line is malformed, repeats a question, or names a question or document that `dataset` has not
            (but as `UNMAPPED`); or the file is empty. The message names file, line and value.
    """
    questions = {one.question_id: one for one in dataset.questions}
    documents = {one.doc_id: len(one.text) for one in dataset.documents}
    lines: dict[str, AnswerLine] = {}
    places: dict[str, str] = {}
    for row in read_records(path):
        line = _line(row)
        if line.question_id not in questions:
            raise row.error(
                f"question {line.question_id!r} is not in {dataset.name}{_near(line.question_id, questions)}"
            )
        if line.question_id in places:
            raise row.error(f"question {line.question_id!r} stands at {places[line.question_id]} already")
        for name, doc_id in _documents_of(line):
            if doc_id not in documents and not doc_id.startswith(UNMAPPED):
                raise row.error(f"{name}: document {doc_id!r} is not in {dataset.name}{_near(doc_id, documents)}")
        for shown in line.shown or ():
            known = documents.get(shown.doc_id, 0)
            for _, end in shown.spans:
                if end > known:
                    raise row.error(f"shown: a span ends at {end}, and document {shown.doc_id!r} at {known}")
        places[line.question_id] = row.place
        lines[line.question_id] = line
    if not lines:
        raise DatasetError(f"{path} is empty: write one JSON object per question")
    _check_silence(path, lines)
    _check_k(path, lines)
    return lines


def _line(row: FileRow) -> AnswerLine:
    try:
        return AnswerLine.model_validate(dict(row.fields))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        name = ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            known = ", ".join(AnswerLine.model_fields)
            raise row.error(
                f"unknown field {name!r}{_near(name, AnswerLine.model_fields)}; known are {known}"
            ) from None
        message = problem_text(problem)
        raise row.error(f"field {name!r}: {message}" if name else message) from None


def _documents_of(line: AnswerLine) -> Iterator[tuple[str, str]]:
    for name in ("retrieved_ids", "used_ids", "cited_ids"):
        for doc_id in getattr(line, name) or ():
            yield name, doc_id
    for one in line.shown or ():
        if one.text is None:
            yield "shown", one.doc_id


def _check_silence(path: Path, lines: Mapping[str, AnswerLine]) -> None:
    """A system that answers says of every question why there is no answer; one that never does only retrieves."""
    silent = [one for one, line in lines.items() if line.answer is None and not line.abstained and line.error is None]
    if silent and len(silent) < len(lines):
        shown = ", ".join(repr(one) for one in silent[:_SHOWN])
        raise DatasetError(
            f"{path}: {len(silent)} of {len(lines)} questions have no answer ({shown}): say abstained: true where the "
            "system declined, or error: WHY where it failed"
        )


def _check_k(path: Path, lines: Mapping[str, AnswerLine]) -> None:
    """A metric at a cut is defined for all questions of a system, or for none."""
    said = sorted({line.k for line in lines.values() if line.k is not None})
    if len(said) > 1:
        raise DatasetError(
            f"{path}: k is {said[0]} in one line and {said[-1]} in another: a system asks for the same number of "
            "documents throughout; leave k out where it does not"
        )


def _near(name: str, known: Collection[str]) -> str:
    near = nearest(name, known, likeness=0.6)
    return f" (did you mean {near!r}?)" if near else ""


def foreign_record(
    cell: Cell, question: Question, line: AnswerLine | None, documents: Mapping[str, Document]
) -> RunRecord:
    """The record of one question. `line` None: the file passes the question over, which counts as a failure.

    Everything retrieved counts as one retrieval. Tokens that are given for all calls together become one call.
    """
    failure = _failure(line)
    seconds = line.seconds if line else None
    outcome: Outcome = "failed" if line is None or failure else "abstained" if line.abstained else "answered"
    return RunRecord(
        cell,
        question.question_id,
        outcome,
        answer=None if line is None or failure else answer_of(line, documents),
        failure=failure,
        retrievals=retrievals_of(question.text, line, IMPORTED_MODE) if line else (),
        calls=calls_of(cell, line) if line else (),
        decisions=(),
        wall_seconds=seconds or 0.0,
        timed=seconds is not None,
    )


def _failure(line: AnswerLine | None) -> Failure | None:
    if line is None:
        return Failure("strategy", "NotAnswered", "the imported file has no line for this question")
    return None if line.error is None else Failure("strategy", "ImportedError", line.error)


def answer_of(line: AnswerLine, documents: Mapping[str, Document]) -> Answer:
    """The answer of a line that has one; what it shows whole it shows by the text of `documents`."""
    retrieved, named = tuple(dict.fromkeys(_ranked(line))), line.named_as_used
    used = retrieved if named is None else tuple(dict.fromkeys(named))
    shown = None if line.shown is None else tuple(_shown(one, documents) for one in line.shown)
    return Answer(line.answer, line.abstained, retrieved, used, line.cited_ids, shown)


def _shown(line: ShownLine, documents: Mapping[str, Document]) -> ShownDocument:
    if line.spans or line.text is not None:
        return ShownDocument(line.doc_id, line.spans, line.text)
    whole = documents.get(line.doc_id)
    return ShownDocument(line.doc_id, ((0, len(whole.text)),) if whole else ())


def _ranked(line: AnswerLine) -> tuple[str, ...]:
    """What was retrieved; behind it what was shown alone, since nothing is shown that was not retrieved."""
    known = set(line.retrieved_ids)
    return (*line.retrieved_ids, *(one for one in line.named_as_used or () if one not in known))


def retrievals_of(query: str, line: AnswerLine, mode: str) -> tuple[Retrieval, ...]:
    """All that came back as one ranking, without a hit where the line says that nothing did; none of a silent line.

    How much was asked for is what the line says, never how much came.
    """
    ids = _ranked(line)
    if not ids and not line.tells_evidence:
        return ()
    given = line.scores if line.scores is not None and len(line.scores) == len(ids) else None
    scores = given or tuple(1 / rank for rank in range(1, len(ids) + 1))
    hits = (Hit(one, one, rank, score) for rank, (one, score) in enumerate(zip(ids, scores, strict=True), start=1))
    return (Retrieval(RetrievalRequest(query, mode, line.k), tuple(hits)),)


def calls_of(cell: Cell, line: AnswerLine) -> tuple[LLMCall, ...]:
    """The calls that the line lists, else one entry for all of them; none of a cell without a model."""
    if cell.llm is None:
        return ()
    total = CallLine(role=ALL_CALLS, input_tokens=line.input_tokens, output_tokens=line.output_tokens)
    return tuple(
        LLMCall(
            call.role,
            call.model or cell.llm,
            prompt_sha="",
            attempts=(CallAttempt(call.input_tokens, call.output_tokens),),
        )
        for call in ((total,) if line.calls is None else line.calls)
    )
