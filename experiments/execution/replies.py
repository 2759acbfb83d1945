"""What a system of the user's own replied to a question, as a line of the exchange format.

The documents that it names are looked up in the dataset: by id, else by text. One that is not found keeps its place in
the ranking, under an id that no dataset has: to leave it out would flatter the system's precision.
"""

from __future__ import annotations

import dataclasses
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from arena.errors import StrategyError, content_problems
from arena.identity import short_hash
from arena.text import abstains, well_formed
from arena.types import UNMAPPED, Count, Document
from experiments.execution.foreign import AnswerLine, CallLine, ShownLine

_SHOWN_KEYS = 8
_PLAIN_ID = re.compile(r"[!-~]{1,100}")  # what every exchange format takes
_MOST_DOCUMENTS = 10_000
_MOST_ALIKE = 100


def _text(value: object) -> object:
    """Numbers are taken as they are written: 1969 is an answer, and 12 an id."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    return well_formed(str(value))


def _score(value: object) -> float | None:
    """A finite number; None for all else, which ranks nothing."""
    try:
        number = None if value is None or isinstance(value, bool | str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and math.isfinite(number) else None


_Text = Annotated[str, BeforeValidator(_text)]


class _Lenient(BaseModel):
    """What is not asked for is not looked at: a system may say more than the arena reads."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class NamedDocument(_Lenient):
    """A document, or a piece of one, as a system names it: by `id`, by `text`, or both. A plain text is either."""

    id: _Text | None = Field(default=None, validation_alias=AliasChoices("id", "doc_id", "document_id"))
    title: _Text | None = None
    text: _Text | None = Field(default=None, validation_alias=AliasChoices("text", "content", "page_content"))
    score: Annotated[float | None, BeforeValidator(_score)] = None

    @model_validator(mode="before")
    @classmethod
    def _either(cls, value: object) -> object:
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = str(value)
            return {"id": text, "text": text if " " in text.strip() else None}
        return fields_of(value)

    @model_validator(mode="after")
    def _named(self) -> NamedDocument:
        if not self.id and not self.text:
            raise ValueError("a document needs an id or a text")
        return self


_Documents = Annotated[tuple[NamedDocument, ...] | None, Field(strict=False, max_length=_MOST_DOCUMENTS)]


class ReportedCall(_Lenient):
    """One model call that a system made, as far as it knows."""

    role: Annotated[str, Field(min_length=1, max_length=100)] = "reported"
    model: str | None = None
    input_tokens: Count = None
    output_tokens: Count = None


class SystemReply(_Lenient):
    """All that is read of a reply. None: the system does not say, and it is unknown."""

    answer: _Text | None = None
    abstained: bool | None = None
    error: _Text | None = None
    retrieved: _Documents = Field(
        default=None, validation_alias=AliasChoices("retrieved", "documents", "retrieved_ids")
    )
    used: _Documents = Field(default=None, validation_alias=AliasChoices("used", "used_ids"))
    cited: _Documents = Field(default=None, validation_alias=AliasChoices("cited", "cited_ids"))
    input_tokens: Count = None
    output_tokens: Count = None
    calls: Annotated[tuple[ReportedCall, ...] | None, Field(strict=False, max_length=_MOST_DOCUMENTS)] = None


def fields_of(value: object) -> object:
    """A record as the mapping of its fields: of a mapping, a dataclass or a pydantic model; all else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    return value.model_dump() if isinstance(value, BaseModel) else value


def read_reply(value: Any, *, answers: bool) -> SystemReply:
    """What a system gave back: a text is its answer, else a record with the fields of `SystemReply`.

    `answers`: whether it is to give one.

    Raises:
        StrategyError: it is nothing of this; the message says what was missing or wrong, and repeats no value.
    """
    fields = {"answer": value} if isinstance(value, str) else fields_of(value)
    if not isinstance(fields, Mapping):
        raise StrategyError(f"it gave back a {type(value).__name__}: give a text, or an object with the key answer")
    try:
        reply = SystemReply.model_validate(dict(fields))
    except ValidationError as error:
        raise StrategyError(f"what it gave back cannot be read: {content_problems(error, 'it', most=3)}") from None
    if answers and reply.answer is None and not reply.abstained and reply.error is None:
        keys = ", ".join(repr(well_formed(str(key)))[:60] for key in list(fields)[:_SHOWN_KEYS]) or "nothing"
        raise StrategyError(f"what it gave back has none of answer, abstained and error, but {keys}")
    return reply


@dataclass(frozen=True)
class DocumentLookup:
    """Finds the dataset's document that a system means."""

    documents: Mapping[str, Document]
    _found: dict[tuple[str | None, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> DocumentLookup:
        return cls({one.doc_id: one for one in documents})

    def id_of(self, named: NamedDocument) -> str:
        """Its id in the dataset: the id that is named, else that of the one document with this text, or that holds it.

        One that is not there, or of which several documents could be meant, has an id that begins with `UNMAPPED`.
        """
        if named.id in self.documents:
            return str(named.id)
        found = self._by_text(named.title, named.text) if named.text else None
        if found is not None:
            return found
        own = named.id or ""
        return UNMAPPED + (own if _PLAIN_ID.fullmatch(own) else short_hash(own or str(named.text)))

    def _by_text(self, title: str | None, text: str) -> str | None:
        key = (title, text)
        if key not in self._found:
            self._found[key] = self._search(_spaced(title or ""), _spaced(text))
        return self._found[key]

    def _search(self, title: str, text: str) -> str | None:
        """The one document that is this text, or else that holds it; of several, the one with this title."""
        for candidates_of in (self._being, self._holding):
            candidates = candidates_of(text) if text else []
            titled = [one for one in candidates if title and _spaced(self.documents[one].title) == title]
            if len(titled or candidates) == 1:
                return (titled or candidates)[0]
        return None

    def _being(self, text: str) -> list[str]:
        return self._whole.get(text, [])

    def _holding(self, text: str) -> list[str]:
        """The documents that hold a piece of text; of what is in very many, the first."""
        texts, starts, ids = self._joined
        found: list[str] = []
        at = texts.find(text)
        while at >= 0 and len(found) < _MOST_ALIKE:
            place = bisect_right(starts, at) - 1
            found.append(ids[place])
            at = texts.find(text, starts[place + 1])
        return found

    @cached_property
    def _whole(self) -> dict[str, list[str]]:
        """Text, alone and behind its title -> the documents that are just that."""
        found: dict[str, list[str]] = {}
        for one in self.documents.values():
            for text in {_spaced(one.text), _spaced(f"{one.title} {one.text}")}:
                found.setdefault(text, []).append(one.doc_id)
        return found

    @cached_property
    def _joined(self) -> tuple[str, list[int], list[str]]:
        """All titles and texts, a line each; where each begins, and where all end; whose they are."""
        lines = [_spaced(f"{one.title} {one.text}") for one in self.documents.values()]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return "\n".join(lines), starts, list(self.documents)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def line_of(reply: SystemReply, lookup: DocumentLookup, phrases: Sequence[str] = ()) -> AnswerLine:
    """The reply as a line of the exchange format, whose ids are the dataset's or begin with `UNMAPPED`.

    `phrases`: how an answer begins that declines to answer, beside what is known, where the system does not say.
    """
    said: dict[str, Any] = {"question_id": "", "answer": reply.answer}
    declines = reply.answer is not None and abstains(reply.answer, phrases)
    said["abstained"] = declines if reply.abstained is None else reply.abstained
    if reply.retrieved is not None:
        said["retrieved_ids"] = tuple(map(lookup.id_of, reply.retrieved))
        scores = [one.score for one in reply.retrieved]
        said["scores"] = None if None in scores else tuple(scores)
    if reply.used is not None:
        said["used_ids"] = tuple(map(lookup.id_of, reply.used))
        said["shown"] = _shown(reply.used, lookup)
    if reply.cited is not None:
        said["cited_ids"] = tuple(dict.fromkeys(map(lookup.id_of, reply.cited)))
    if reply.calls is not None:
        said["calls"] = tuple(CallLine(**call.model_dump()) for call in reply.calls)
    else:
        said |= {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    return AnswerLine(**said)


def _shown(used: Sequence[NamedDocument], lookup: DocumentLookup) -> tuple[ShownLine, ...] | None:
    """What stood in the prompt of each document, its pieces together; None where the system gives not every text."""
    pieces: dict[str, list[NamedDocument]] = {}
    for one in used:
        if one.text is None:
            return None
        pieces.setdefault(lookup.id_of(one), []).append(one)
    return tuple(_shown_of(doc_id, some, lookup.documents.get(doc_id)) for doc_id, some in pieces.items())


def _shown_of(doc_id: str, pieces: Sequence[NamedDocument], document: Document | None) -> ShownLine:
    """By where the pieces stand in the document, if they all do as they are, else by their text."""
    texts = [one.text or "" for one in pieces]
    starts = [document.text.find(text) for text in texts] if document else [-1]
    if min(starts) >= 0:
        return ShownLine(
            doc_id=doc_id, spans=tuple((start, start + len(text)) for start, text in zip(starts, texts, strict=True))
        )
    titles = [one.title for one in pieces if one.title]
    return ShownLine(doc_id=doc_id, text="\n".join((*titles[:1], *texts)))
