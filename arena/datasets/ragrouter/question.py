"""One question of RAGRouter-Bench with its gold, put together from its row and from MuSiQue's record of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from arena.datasets.ragrouter.columns import Asked
from arena.datasets.ragrouter.corpus import Corpus
from arena.datasets.ragrouter.evidence import documents_of
from arena.datasets.ragrouter.original import Original, Originals
from arena.types import Gold, Question


@dataclass(slots=True)
class Ledger:
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


def put_together(asked: Asked, corpus: Corpus, originals: Originals | None, ledger: Ledger) -> tuple[Question, Gold]:
    """The question and its gold; `originals` None = no MuSiQue file.

    The row's own evidence counts where all of it can be read, else MuSiQue's where all of it is in the corpus, else
    none: recall of part of the evidence would flatter. Raises `DatasetError` as `documents_of` does.
    """
    original = originals.find(asked) if originals else None
    if original:
        ledger.by[original.way] += 1
    answers = _answers(asked, original, ledger)
    supporting_ids, hop_order = _evidence(asked, corpus, originals, original, ledger)
    question = Question(
        asked.question_id,
        asked.text,
        asked.kind,
        hops=_hops(asked, original),
        hop_shape=original.question.hop_shape if original else None,
    )
    return question, Gold(asked.question_id, answers, supporting_ids, hop_order)


def _answers(asked: Asked, original: Original | None, ledger: Ledger) -> tuple[str, ...]:
    answers = tuple(dict.fromkeys((asked.answer, *(original.gold.answers if original else ()))))
    ledger.aliased += len(answers) > 1
    return answers


def _evidence(
    asked: Asked, corpus: Corpus, originals: Originals | None, original: Original | None, ledger: Ledger
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Supporting documents, and their order along the hops where MuSiQue tells it."""
    own = documents_of(asked, corpus)
    if own:
        return own, None
    if originals and original:
        pairs = originals.documents_of(original, corpus)
        if pairs is None:
            ledger.not_in_corpus.append(asked.question_id)
            return (), None
        ledger.recovered += 1
        order = original.gold.hop_order
        return tuple(dict.fromkeys(pairs.values())), tuple(pairs[doc_id] for doc_id in order) if order else None
    (ledger.unreadable if own is None else ledger.unknown).append(asked.question_id)
    return (), None


def _hops(asked: Asked, original: Original | None) -> int | None:
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
