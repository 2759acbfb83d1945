"""The columns of RAGRouter-Bench under both names in use, and what its rows are looked up in: the corpus and MuSiQue.

The authors' README calls them `doc_id`, `title`, `text` and `question_id`, `question`, `answer`, `query_type`,
`supporting_facts`; the program that made the questions, and projects that read the files, have `id`, `type`, and
`content` or `context` for a text. Ids may be numbers. Other columns are passed over.

A document is found by its id or by its text. MuSiQue's own records give the original questions their aliases, evidence
and hops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arena.datasets.records import MOST_HOPS, FileRow, read_records
from arena.errors import DatasetError, UnknownNameError
from arena.types import Dataset, Document, Gold, Kind, Question

CORPUS = "Corpus.json"
DOCUMENT_ID = ("doc_id", "id")
QUESTION_ID = ("question_id", "id")
TEXT = ("text", "content", "context")
KIND = ("query_type", "type")
EVIDENCE = "supporting_facts"
HOPS = "num_hops"

KINDS: Mapping[str, Kind] = {
    "factual": "single_hop",
    "single_hop": "single_hop",
    "reasoning": "multi_hop",
    "multi_hop": "multi_hop",
    "summary": "summary",
}


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question as its row tells it. `facts`: members of its evidence, unread; `hops`: None where no column says."""

    row: FileRow
    question_id: str
    text: str
    answer: str
    kind: Kind
    facts: tuple[Any, ...]
    hops: int | None


def read_document(row: FileRow) -> Document:
    """One row of the corpus; title may be absent. Raises `DatasetError`: a column is missing, mistyped or blank."""
    return Document(_name(row, DOCUMENT_ID), row.optional("title", str) or "", _text(row, TEXT))


def read_asked(row: FileRow) -> QuestionRow:
    """One row of the questions. Raises `DatasetError`: a column is missing, mistyped or blank, or the kind unknown."""
    facts: list[Any] = row.optional(EVIDENCE, list) or []
    return QuestionRow(
        row=row,
        question_id=_name(row, QUESTION_ID),
        text=_text(row, ("question",)),
        answer=_name(row, ("answer",)),
        kind=_kind(row),
        facts=tuple(facts),
        hops=row.count(HOPS, MOST_HOPS),
    )


def _kind(row: FileRow) -> Kind:
    named = _text(row, KIND)
    kind = KINDS.get(named.strip().lower())
    if kind is None:
        raise row.error(str(UnknownNameError("kind", named, KINDS)))
    return kind


def _name(row: FileRow, names: Sequence[str]) -> str:
    """A text or a whole number, as text."""
    column = _column(row, names)
    value = row.fields[column]
    return str(value) if type(value) is int else row.identifier(column)


def _text(row: FileRow, names: Sequence[str]) -> str:
    return row.identifier(_column(row, names))


def _column(row: FileRow, names: Sequence[str]) -> str:
    """The first of `names` that the row has with a value; a table of mixed columns fills up with nulls."""
    for name in names:
        if row.fields.get(name) is not None:
            return name
    there = ", ".join(repr(field) for field in row.fields) or "none"
    raise row.error(f"no field {' or '.join(repr(name) for name in names)}; fields there: {there}")


class CorpusLookup:
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


def read_corpus(path: Path) -> CorpusLookup:
    """All documents of a file.

    Raises:
        DatasetError: the file cannot be read or is empty, a row is malformed, or an id is used twice.
    """
    documents: list[Document] = []
    places: dict[str, str] = {}
    for row in read_records(path):
        document = read_document(row)
        row.enter("document id", document.doc_id, places)
        documents.append(document)
    if not documents:
        raise DatasetError(f"{path} holds no documents; expected RAGRouter-Bench's corpus, one object per document")
    return CorpusLookup(documents)


def squeezed(text: str) -> str:
    """The text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())


Way = Literal["id", "text"]


@dataclass(frozen=True, slots=True)
class Original:
    """The MuSiQue record of a question, its supporting documents there by id, and what it was found by."""

    question: Question
    gold: Gold
    evidence: Mapping[str, Document]
    way: Way

    def documents_in(self, corpus: CorpusLookup) -> Mapping[str, str] | None:
        """MuSiQue's supporting documents -> those of `corpus` that say the same; None when one is not there."""
        pairs: dict[str, str] = {}
        for musique_id, document in self.evidence.items():
            doc_id = corpus.find(document.title, document.text)
            if doc_id is None:
                return None
            pairs[musique_id] = doc_id
        return pairs


class Originals:
    """The answerable questions of a MuSiQue dataset, found by id, else by text whatever its case and white space."""

    def __init__(self, musique: Dataset) -> None:
        known = [question for question in musique.questions if question.kind != "unanswerable"]
        self._gold = musique.gold
        self._documents = {document.doc_id: document for document in musique.documents}
        self._by_id = {question.question_id: question for question in known}
        self._by_text: dict[str, list[Question]] = {}
        for question in known:
            self._by_text.setdefault(_plain(question.text), []).append(question)

    def find(self, asked: QuestionRow) -> Original | None:
        """The record of this question; of several with its text, the only one with its answer."""
        if asked.question_id in self._by_id:
            return self._original(self._by_id[asked.question_id], "id")
        alike = self._by_text.get(_plain(asked.text), [])
        if len(alike) > 1:
            answer = _plain(asked.answer)
            alike = [q for q in alike if answer in map(_plain, self._gold[q.question_id].answers)]
        return self._original(alike[0], "text") if len(alike) == 1 else None

    def _original(self, question: Question, way: Way) -> Original:
        gold = self._gold[question.question_id]
        return Original(question, gold, {doc_id: self._documents[doc_id] for doc_id in gold.supporting_ids}, way)


def _plain(text: str) -> str:
    return squeezed(text).casefold()
