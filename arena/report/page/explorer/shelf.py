"""The documents of the page: numbered as they are first named, their texts written once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from arena.report.page.explorer.columns import Cut
from arena.types import Document

MEMBER_CHARS = 100_000
"""Texts are put into one member until it holds this many characters: enough to compress, little to read."""


@dataclass(frozen=True, slots=True)
class TextMember:
    """The texts of the documents from number `first` on; None = not known."""

    first: int
    texts: list[Cut | None]


class DocumentShelf:
    """Documents by number. One that no record and no gold names has none, and is not in the page."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, doc_id: str) -> int:
        """The number of a document, from 0; the next one if it has not been named."""
        return self._numbers.setdefault(doc_id, len(self._numbers))

    def names(self) -> dict[str, list[str | None]]:
        """Ids and titles, in the order of the numbers; a title is None where the document is not known."""
        titles = [found.title if (found := self._documents.get(one)) else None for one in self._numbers]
        return {"ids": list(self._numbers), "titles": titles}

    def texts(self, chars: int | None) -> Iterator[Cut | None]:
        """Every text in the order of the numbers, cut to `chars` characters (None: whole)."""
        for doc_id in self._numbers:
            document = self._documents.get(doc_id)
            if document is None:
                yield None
            elif chars is None or len(document.text) <= chars:
                yield document.text
            else:
                yield document.text[:chars], len(document.text) - chars

    def members(self, chars: int | None) -> Iterator[TextMember]:
        """`texts` in pieces that can be read one at a time."""
        first, held, kept = 0, 0, list[Cut | None]()
        for text in self.texts(chars):
            kept.append(text)
            held += text_chars(text)
            if held >= MEMBER_CHARS:
                yield TextMember(first, kept)
                first, held, kept = first + len(kept), 0, []
        if kept:
            yield TextMember(first, kept)


def text_chars(text: Cut | None) -> int:
    """Characters of it that are in the page."""
    return 0 if text is None else len(text) if isinstance(text, str) else len(text[0])
