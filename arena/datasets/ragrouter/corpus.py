"""The documents of RAGRouter-Bench, found by id or by what they say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arena.datasets.ragrouter.columns import read_document
from arena.datasets.records import read_records
from arena.errors import DatasetError
from arena.types import Document


class Corpus:
    """Documents in file order. White space never decides whether two texts are the same, unless both forms occur."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self.ids = frozenset(document.doc_id for document in self.documents)
        self._exact: dict[tuple[str, str], str] = {}
        self._squeezed: dict[tuple[str, str], str] = {}
        self._by_text: dict[str, list[str]] = {}
        for document in self.documents:
            title, text = squeezed(document.title), squeezed(document.text)
            self._exact.setdefault((document.title, document.text), document.doc_id)
            self._squeezed.setdefault((title, text), document.doc_id)
            self._by_text.setdefault(text, []).append(document.doc_id)

    def find(self, title: str, text: str) -> str | None:
        """The document of this title and text; else the only one of this text, alone or after its title. None: none."""
        exact = self._exact.get((title, text)) or self._squeezed.get((squeezed(title), squeezed(text)))
        if exact is not None:
            return exact
        for form in (text, f"{title} {text}"):
            alike = self._by_text.get(squeezed(form), [])
            if len(alike) == 1:
                return alike[0]
        return None


def read_corpus(path: Path) -> Corpus:
    """All documents of a file.

    Raises:
        DatasetError: the file cannot be read or is empty, a row is malformed, or an id is used twice.
    """
    documents: list[Document] = []
    places: dict[str, str] = {}
    for row in read_records(path):
        document = read_document(row)
        if document.doc_id in places:
            raise row.error(f"document id {document.doc_id!r} was already used at {places[document.doc_id]}")
        places[document.doc_id] = row.place
        documents.append(document)
    if not documents:
        raise DatasetError(f"{path} holds no documents; expected RAGRouter-Bench's corpus, one object per document")
    return Corpus(documents)


def squeezed(text: str) -> str:
    """The text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())
