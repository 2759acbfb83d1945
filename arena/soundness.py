"""What a strategy hands over is checked, not trusted: its requests, its attempt, and the evidence of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from arena.errors import StrategyError
from arena.types import Answer, Attempt, Retrieval, RetrievalRequest

T = TypeVar("T")

_ATTEMPT = TypeAdapter(Attempt)
_REQUEST = TypeAdapter(RetrievalRequest)


def sound_attempt(value: Attempt, retrievals: Sequence[Retrieval]) -> Attempt:
    """`value`, if it is an attempt that can be written down, on evidence that the question's `retrievals` brought.

    Raises:
        StrategyError: it is not; the message names the field.
    """
    attempt = _sound(value, _ATTEMPT, "attempt() returned")
    _check_evidence(attempt.answer, retrievals)
    return attempt


def check_request(request: RetrievalRequest) -> None:
    """Raise StrategyError unless `request` can be written down as it is."""
    _sound(request, _REQUEST, "the retriever was asked for")


def _sound(value: T, kind: TypeAdapter[T], what: str) -> T:
    """`value`, if it comes back from JSON as it was: every field of its declared type, text well-formed, no NaN."""
    try:
        if kind.validate_json(kind.dump_json(value, warnings="error"), strict=True) == value:
            return value
        reason = "it would not come back from the journal as it is"
    except ValueError as error:
        reason = str(error)
    raise StrategyError(f"{what} {value!r:.200}: {' '.join(reason.split())}")


def _check_evidence(answer: Answer, retrievals: Sequence[Retrieval]) -> None:
    """Each stage of the evidence comes from the one before, and the first from this question's own retrievals."""
    brought = {hit.doc_id for retrieval in retrievals for hit in retrieval.hits}
    for stage, ids, source, known in (
        ("retrieved_ids", answer.retrieved_ids, "the documents of the question's hits", brought),
        ("used_ids", answer.used_ids, "its retrieved_ids", set(answer.retrieved_ids)),
        ("cited_ids", answer.cited_ids, "its used_ids", set(answer.used_ids)),
    ):
        for doc_id in ids:
            if doc_id not in known:
                raise StrategyError(f"the answer's {stage} holds {doc_id!r}, which is not among {source}")
