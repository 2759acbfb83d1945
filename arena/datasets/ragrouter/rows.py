"""Rows of RAGRouter-Bench, looked up in the corpus and in MuSiQue, made into documents, questions and gold.

The authors' README calls the columns `doc_id`, `title`, `text` and `question_id`, `question`, `answer`, `query_type`,
`supporting_facts`; the program that made the questions, and projects that read the files, have `id`, `type`, and
`content` or `context` for a text. Ids may be numbers. Other columns are passed over.

A member of `supporting_facts` is a document's id, or an object with the id (`doc_id`) or with the text of a passage.
The original questions of MuSiQue and of the medical config are reported to have no ids; what such members look like is
not known, so one that cannot be read is counted and never guessed at. MuSiQue's own records give the original questions
their aliases, evidence and hops. The notes of the dataset tell a user what became of the evidence of all questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from arena.datasets.records import MOST_HOPS, FileRow, read_records, some
from arena.errors import DatasetError, UnknownNameError
from arena.types import Dataset, Document, Gold, Kind, Question, grouped

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
        found = {name: corpus.find(document.title, document.text) for name, document in self.evidence.items()}
        pairs = {name: doc_id for name, doc_id in found.items() if doc_id is not None}
        return pairs if len(pairs) == len(found) else None


class Originals:
    """The answerable questions of a MuSiQue dataset, found by id, else by text whatever its case and white space."""

    def __init__(self, musique: Dataset) -> None:
        known = [question for question in musique.questions if question.kind != "unanswerable"]
        self._gold = musique.gold
        self._documents = {document.doc_id: document for document in musique.documents}
        self._by_id = {question.question_id: question for question in known}
        self._by_text = grouped((_plain(question.text), question) for question in known)

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


_PASSAGE = (*TEXT, "paragraph_text")


def documents_of(asked: QuestionRow, corpus: CorpusLookup) -> tuple[str, ...] | None:
    """The documents named, in order, each once. None: a member cannot be read, so part of the evidence is unknown.

    Raises:
        DatasetError: an id is not in the corpus.
    """
    found: dict[str, None] = {}
    for index, fact in enumerate(asked.facts):
        doc_id = _document(asked, index, fact, corpus)
        if doc_id is None:
            return None
        found[doc_id] = None
    return tuple(found)


def _document(asked: QuestionRow, index: int, fact: Any, corpus: CorpusLookup) -> str | None:
    if isinstance(fact, dict):
        named = next((fact[name] for name in DOCUMENT_ID if fact.get(name) is not None), None)
        return _by_passage(fact, corpus) if named is None else _by_id(asked, index, named, corpus)
    if isinstance(fact, str) and fact not in corpus.ids and len(fact.split()) > 1:
        return corpus.find("", fact)
    return _by_id(asked, index, fact, corpus)


def _by_id(asked: QuestionRow, index: int, named: Any, corpus: CorpusLookup) -> str | None:
    if type(named) is not int and not isinstance(named, str):  # not isinstance: true is no id
        return None
    if str(named) not in corpus.ids:
        raise asked.row.error(
            f"question {asked.question_id!r}: '{EVIDENCE}[{index}]' names document {str(named)!r}, which is not in "
            f"{CORPUS}"
        )
    return str(named)


def _by_passage(fact: dict[str, Any], corpus: CorpusLookup) -> str | None:
    text = next((fact[name] for name in _PASSAGE if isinstance(fact.get(name), str)), None)
    title = fact["title"] if isinstance(fact.get("title"), str) else ""
    return None if text is None else corpus.find(title, text)


@dataclass(slots=True)
class EvidenceNotes:
    """What became of the evidence of all questions, for the notes. Lists hold question ids.

    `by`: questions found in MuSiQue, by id or by text; `recovered`: those whose evidence came from there.
    `aliased`: questions that gained answers. Without evidence: `unreadable` (the row names some that cannot be
    read), `not_in_corpus` (MuSiQue names a paragraph that no document is), `unknown` (nobody names any).
    """

    by: Counter[str] = field(default_factory=Counter)
    recovered: int = 0
    aliased: int = 0
    unreadable: list[str] = field(default_factory=list)
    not_in_corpus: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def put_together(
    asked: QuestionRow, corpus: CorpusLookup, originals: Originals | None, ledger: EvidenceNotes
) -> tuple[Question, Gold]:
    """The question and its gold; `originals` None = no MuSiQue file.

    The row's own evidence counts where all of it can be read, else MuSiQue's where all of it is in the corpus, else
    none: recall of part of the evidence would flatter. Raises `DatasetError` as `documents_of` does.
    """
    original = originals.find(asked) if originals else None
    if original:
        ledger.by[original.way] += 1
    answers = tuple(dict.fromkeys((asked.answer, *(original.gold.answers if original else ()))))
    ledger.aliased += len(answers) > 1
    supporting_ids, hop_order = _evidence(asked, corpus, original, ledger)
    question = Question(
        asked.question_id,
        asked.text,
        asked.kind,
        hops=_hops(asked, original),
        hop_shape=original.question.hop_shape if original else None,
    )
    return question, Gold(asked.question_id, answers, supporting_ids, hop_order)


def _evidence(
    asked: QuestionRow, corpus: CorpusLookup, original: Original | None, ledger: EvidenceNotes
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Supporting documents, and their order along the hops where MuSiQue tells it."""
    own = documents_of(asked, corpus)
    if own:
        return own, None
    if original:
        pairs = original.documents_in(corpus)
        if pairs is None:
            ledger.not_in_corpus.append(asked.question_id)
            return (), None
        ledger.recovered += 1
        order = original.gold.hop_order
        return tuple(dict.fromkeys(pairs.values())), tuple(pairs[doc_id] for doc_id in order) if order else None
    (ledger.unreadable if own is None else ledger.unknown).append(asked.question_id)
    return (), None


def _hops(asked: QuestionRow, original: Original | None) -> int | None:
    """Facts on the reasoning path: MuSiQue's, else the row's, else the number of its facts; None for a summary."""
    if asked.kind == "summary":
        return None
    if asked.kind == "single_hop":
        return 1
    if original:
        return original.question.hops
    if asked.hops is not None:
        return asked.hops
    return len(asked.facts) if len(asked.facts) > 1 else None


def evidence_notes(ledger: EvidenceNotes, n_questions: int, musique: str | None) -> Iterator[str]:
    """Sentences about recovered and missing evidence. `musique`: what file it was sought in, None = in none."""
    if musique is not None:
        found = sum(ledger.by.values())
        yield (
            f"{found:,} of {n_questions:,} questions are in MuSiQue ({musique}): {ledger.by['id']:,} found by id, "
            f"{ledger.by['text']:,} by text; evidence of {ledger.recovered:,} came from there, and {ledger.aliased:,} "
            "gained aliases of their answers."
        )
        if found < n_questions:
            yield (
                f"The answers of the other {n_questions - found:,} are no spans and have no aliases: "
                "let a judge compare them, exact match says little."
            )
    else:
        yield "Answers may be sentences and have no aliases: let a judge compare them, exact match says little."
    if without := len(ledger.unreadable) + len(ledger.not_in_corpus) + len(ledger.unknown):
        yield (
            f"{without:,} of {n_questions:,} questions have no supporting documents, so metrics of "
            f"retrieval and support are undefined on them: {'; '.join(_reasons(ledger, musique))}."
        )


def _reasons(ledger: EvidenceNotes, musique: str | None) -> Iterator[str]:
    for ids, reason in (
        (ledger.unknown, "name none"),
        (ledger.unreadable, "name evidence that is neither an id nor the text of a document"),
        (ledger.not_in_corpus, "need a paragraph of MuSiQue that no document is"),
    ):
        if ids:
            yield f"{len(ids):,} {reason} ({some(ids)})"
    if musique is None and (ledger.unknown or ledger.unreadable):
        yield "for questions taken from MuSiQue, name its file, as in ragrouter:FOLDER:musique_ans_v1.0_dev.jsonl"
