"""MuSiQue's own records as the key to RAGRouter-Bench's original questions: aliases, evidence and hops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from arena.datasets.ragrouter.columns import Asked
from arena.datasets.ragrouter.corpus import Corpus, squeezed
from arena.types import Dataset, Document, Gold, Question

Way = Literal["id", "text"]


@dataclass(frozen=True, slots=True)
class Original:
    """The MuSiQue record of a question, and what it was found by."""

    question: Question
    gold: Gold
    way: Way


class Originals:
    """The answerable questions of a MuSiQue dataset, found by id, else by text whatever its case and white space."""

    def __init__(self, musique: Dataset) -> None:
        known = [question for question in musique.questions if question.kind != "unanswerable"]
        self._gold = musique.gold
        self._documents: Mapping[str, Document] = {document.doc_id: document for document in musique.documents}
        self._by_id = {question.question_id: question for question in known}
        self._by_text: dict[str, list[Question]] = {}
        for question in known:
            self._by_text.setdefault(_plain(question.text), []).append(question)

    def find(self, asked: Asked) -> Original | None:
        """The record of this question; of several with its text, the only one with its answer."""
        by_id = self._by_id.get(asked.question_id)
        if by_id is not None:
            return Original(by_id, self._gold[by_id.question_id], "id")
        alike = self._by_text.get(_plain(asked.text), [])
        if len(alike) > 1:
            answer = _plain(asked.answer)
            alike = [q for q in alike if answer in map(_plain, self._gold[q.question_id].answers)]
        if len(alike) != 1:
            return None
        return Original(alike[0], self._gold[alike[0].question_id], "text")

    def documents_of(self, original: Original, corpus: Corpus) -> Mapping[str, str] | None:
        """MuSiQue's supporting documents -> those of `corpus` that say the same; None when one is not there."""
        pairs: dict[str, str] = {}
        for musique_id in original.gold.supporting_ids:
            document = self._documents[musique_id]
            doc_id = corpus.find(document.title, document.text)
            if doc_id is None:
                return None
            pairs[musique_id] = doc_id
        return pairs


def _plain(text: str) -> str:
    return squeezed(text).casefold()
