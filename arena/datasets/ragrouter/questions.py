"""Make questions of RAGRouter-Bench with their gold, from their rows and from MuSiQue's records of them.

A member of `supporting_facts` is a document's id, or an object with the id (`doc_id`) or with the text of a passage.
The original questions of MuSiQue and of the medical config are reported to have no ids; what such members look like is
not known, so one that cannot be read is counted and never guessed at.

The notes of the dataset tell a user what became of the evidence of all questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.datasets.ragrouter.columns import (
    CORPUS,
    DOCUMENT_ID,
    EVIDENCE,
    TEXT,
    CorpusLookup,
    Original,
    Originals,
    QuestionRow,
)
from arena.datasets.records import some
from arena.types import Gold, Question

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
    if type(named) is not int and not isinstance(named, str):
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

    @property
    def without_evidence(self) -> int:
        """Questions without supporting documents."""
        return len(self.unreadable) + len(self.not_in_corpus) + len(self.unknown)


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
    if ledger.without_evidence:
        yield (
            f"{ledger.without_evidence:,} of {n_questions:,} questions have no supporting documents, so metrics of "
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
