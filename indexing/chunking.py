"""Documents to passages, the unit of retrieval, and the text by which a passage is found."""

from __future__ import annotations

from collections.abc import Iterable

from arena.types import Document, Passage

CHUNKING = {"method": "document", "indexed_text": "title, newline, text"}
"""How passages are made; part of an index's identity."""


def passages_of(documents: Iterable[Document]) -> tuple[Passage, ...]:
    """One passage for each whole document, under the document's id, in id order."""
    whole = (Passage(d.doc_id, d.doc_id, d.title, d.text, 0, len(d.text)) for d in documents)
    return tuple(sorted(whole, key=lambda passage: passage.passage_id))


def indexed_text(passage: Passage) -> str:
    """What both lanes read: the title names the entity that the text may only call "it"."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
