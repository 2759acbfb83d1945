"""The context of one HotpotQA or 2WikiMultihopQA record: its paragraphs in the pool, found again by title."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.datasets.lines import Row
from arena.datasets.pool import Pool
from arena.files import DECODER, fault_of

Spans = tuple[tuple[int, int], ...]
"""Start and end of each sentence of a paragraph's text."""


@dataclass(slots=True)
class Context:
    """Paragraphs of one record. `empty`: how many had a title but no text, and are not in the pool."""

    empty: int = 0
    _paragraphs: dict[str, list[tuple[str, Spans]]] = field(default_factory=dict)

    def add(self, title: str, doc_id: str, sentences: Spans) -> None:
        """Note the pooled document of a paragraph, and where its sentences stand in its text."""
        self._paragraphs.setdefault(_plain(title), []).append((doc_id, sentences))

    def find(self, title: str, sentence: int) -> tuple[str, tuple[int, int] | None] | None:
        """The document of this title, and the span of the sentence (None: it has none of that number).

        Of several, the first that has the sentence, else the first. None: not here. Titles match whatever their case,
        Unicode form or HTML escapes, as the files use them unevenly.
        """
        paragraphs = self._paragraphs.get(_plain(title), ())
        for doc_id, spans in paragraphs:
            if 0 <= sentence < len(spans):
                return doc_id, spans[sentence]
        return (paragraphs[0][0], None) if paragraphs else None


def read_context(row: Row, pool: Pool) -> Context:
    """The paragraphs in field `context`, each added to the pool.

    Raises:
        DatasetError: the field is absent or not a list of [title, [sentences]].
    """
    context = Context()
    for index, paragraph in enumerate(row.items("context", list)):
        if len(paragraph) != 2 or type(paragraph[0]) is not str or not _are_texts(paragraph[1]):
            raise row.error(f"'context[{index}]' must be [title, [sentences]]")
        title, sentences = paragraph
        text, spans = _joined(sentences)
        if text:
            context.add(title, pool.add(title, text), spans)
        else:
            context.empty += 1
    return context


def as_official(row: Row) -> Row:
    """A record in the form of the official files, whichever of the three forms in use it has.

    The hub's tables have `id` for `_id` and pairs as two columns: `supporting_facts` with `title` and `sent_id`,
    `context` with `title` and `sentences`. Others hold both lists as JSON text.

    Raises:
        DatasetError: two columns of a pair are not lists of one length, or a text is not JSON.
    """
    fields = dict(row.fields)
    if "_id" not in fields and "id" in fields:
        fields["_id"] = fields.pop("id")
    for name, columns in _COLUMNS.items():
        if isinstance(fields.get(name), str):
            fields[name] = _decoded(row, name, fields[name])
        if isinstance(fields.get(name), dict):
            nested = Row(f"{row.place}, {name}", fields[name])
            first, second = (nested.require(column, list) for column in columns)
            if len(first) != len(second):
                raise nested.error(f"{columns[0]!r} has {len(first)} members and {columns[1]!r} {len(second)}")
            fields[name] = [list(pair) for pair in zip(first, second, strict=True)]
    return Row(row.place, fields)


_COLUMNS: Mapping[str, tuple[str, str]] = {"supporting_facts": ("title", "sent_id"), "context": ("title", "sentences")}


def _decoded(row: Row, name: str, text: str) -> Any:
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise row.error(f"field {name!r} is a text and not JSON: {fault_of(error)}") from None


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


def _joined(sentences: list[str]) -> tuple[str, Spans]:
    """One text, and where each sentence stands in it, without the white space around it.

    HotpotQA's sentences bring the space before them along, those of 2WikiMultihopQA do not.
    """
    text, spans = "", list[tuple[int, int]]()
    for sentence in sentences:
        text += sentence if not text or sentence[:1].isspace() else f" {sentence}"
        end = len(text.rstrip())
        spans.append((max(0, end - len(sentence.strip())), end))
    before = len(text) - len(text.lstrip())
    return text.strip(), tuple((max(0, start - before), max(0, end - before)) for start, end in spans)


def _plain(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", html.unescape(title)).casefold().split())
