"""What a strategy hands over is checked, not trusted: its requests, its attempt, and the evidence of its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import TypeAdapter

from arena.errors import StrategyError
from arena.types import Answer, Attempt, Passage, Retrieval, RetrievalRequest, ShownDocument

T = TypeVar("T")

_ATTEMPT = TypeAdapter(Attempt)
_REQUEST = TypeAdapter(RetrievalRequest)


def sound_attempt(
    value: Attempt, retrievals: Sequence[Retrieval], brought: Callable[[Collection[str]], Iterable[Passage]]
) -> Attempt:
    """`value`, if it is an attempt that can be written down, on evidence that the question's `retrievals` brought.

    `brought`: of these documents, the passages of kept texts among it. A shown text that is to be found there is left
    to its spans; spans that give another text are left out, and the text stays.

    Raises:
        StrategyError: it is not; the message names the field.
    """
    attempt = _sound(value, _ATTEMPT, "attempt() returned")
    answer = attempt.answer
    _check_evidence(answer, retrievals)
    if not answer.shown:
        return attempt
    pieces: dict[str, list[Passage]] = {}
    for passage in brought(answer.used_ids):
        pieces.setdefault(passage.doc_id, []).append(passage)
    shown = tuple(_looked_up(one, pieces.get(one.doc_id, ())) for one in answer.shown)
    return replace(attempt, answer=replace(answer, shown=shown))


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
    if answer.shown is not None and tuple(one.doc_id for one in answer.shown) != answer.used_ids:
        raise StrategyError(
            f"the answer's shown is of {[one.doc_id for one in answer.shown]!r:.200}, and its used_ids are "
            f"{list(answer.used_ids)!r:.200}: both name what was shown, each once and in one order"
        )


def _looked_up(shown: ShownDocument, passages: Sequence[Passage]) -> ShownDocument:
    """`shown` by its spans alone where these give its text, else by its text alone."""
    found = [_text_at(span, passages) for span in shown.spans]
    texts = [text for text in found if text is not None]
    whole = bool(texts) and len(texts) == len(found)
    if shown.text is None:
        if not whole:
            raise StrategyError(
                f"the answer's shown names spans {list(shown.spans)!r:.100} of {shown.doc_id!r}, which no retrieval "
                "brought, and no text: give the text as it was shown"
            )
        return shown
    if whole and _words(shown.text) == _words(passages[0].title, *texts):
        return replace(shown, text=None)
    return replace(shown, spans=())


def _text_at(span: tuple[int, int], passages: Sequence[Passage]) -> str | None:
    """What stands there in the document of `passages`; None = none of them reaches so far."""
    start, end = span
    for passage in passages:
        if passage.start_char <= start <= end <= passage.end_char and not passage.parts:
            return passage.text[start - passage.start_char : end - passage.start_char]
    return None


def _words(*texts: str) -> list[str]:
    return [word for text in texts for word in text.split()]
