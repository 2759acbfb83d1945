"""A pooled corpus: the paragraphs of many questions as one set of documents."""

from __future__ import annotations

import hashlib

from arena.errors import DatasetError
from arena.types import Document


class Pool:
    """Documents in the order they were first seen; equal (title, text) is one document.

    Titles repeat in MuSiQue, so pooling by title alone would lose gold. A `doc_id` depends on title and text
    only, not on the file or the order, and says nothing about either.
    """

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def add(self, title: str, text: str) -> str:
        """The `doc_id` of this paragraph, which joins the pool unless it is there."""
        doc_id = "p" + hashlib.sha256(f"{title}\x1f{text}".encode()).hexdigest()[:12]
        document = self._documents.setdefault(doc_id, Document(doc_id, title, text))
        if (document.title, document.text) != (title, text):
            raise DatasetError(f"two different paragraphs, {document.title!r} and {title!r}, share the id {doc_id!r}")
        return doc_id

    @property
    def documents(self) -> tuple[Document, ...]:
        return tuple(self._documents.values())
