"""What a metric may look at: one record, what is known to be right, and the texts behind the ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from arena.types import Document, Gold, Question, RunRecord


@dataclass(frozen=True)
class Case:
    """One record with its question, its gold, and the documents of every source whose texts are known.

    `documents`: id -> document, of the corpus and of a second index; what a live search tool brought is in neither.
    """

    record: RunRecord
    question: Question
    gold: Gold
    documents: Mapping[str, Document]

    @cached_property
    def shown(self) -> Mapping[str, str] | None:
        """Document id -> title and text of what the answer was written from; None = the text of some is not known.

        Empty where there is no answer or nothing was shown. Of a document in pieces, the pieces that any retrieval of
        the question brought.
        """
        if self.record.answer is None:
            return {}
        texts: dict[str, str] = {}
        for doc_id in self.record.answer.used_ids:
            document = self.documents.get(doc_id)
            if document is None:
                return None
            texts[doc_id] = f"{document.title}\n{self._text_of(document)}"
        return texts

    def _text_of(self, document: Document) -> str:
        spans = {
            hit.span
            for retrieval in self.record.retrievals
            for hit in retrieval.hits
            if hit.doc_id == document.doc_id and hit.span is not None
        }
        return "\n".join(document.text[start:end] for start, end in sorted(spans)) or document.text
