"""The texts behind the ids of a run, for readable traces. They are no file of the run: its dataset has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.datasets import is_known_as, load_dataset
from arena.errors import UserError
from arena.tracking.finished import FinishedRun
from arena.types import Document, Gold, Hit, Question

_TEXT_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Texts:
    """The corpus, the questions and their gold, by id; all empty where the dataset cannot be had: `note` says why."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    gold: Mapping[str, Gold] = field(default_factory=dict)
    note: str | None = None

    def of(self, hit: Hit) -> tuple[str | None, str | None]:
        """Title and text of what a hit brought, the text cut to what a page can show; None = not known."""
        document = self.documents.get(hit.doc_id)
        if document is None:
            return None, None
        text = document.text[slice(*hit.span)] if hit.span else document.text
        return document.title, text if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]} ..."


def texts_of(run: FinishedRun) -> Texts:
    """The dataset of `run`, if it is still where it was and what it was."""
    asked = run.board.dataset
    try:
        dataset = load_dataset(run.store.data_at or asked.name)
    except UserError as error:
        return Texts(note=f"traces name questions and documents by id alone: {error}")
    if not is_known_as(dataset, asked.fingerprint):
        return Texts(note=f"traces name questions and documents by id alone: {asked.name!r} is not what it was")
    return Texts(
        documents={document.doc_id: document for document in dataset.documents},
        questions={question.question_id: question for question in dataset.questions},
        gold=dataset.gold,
    )
