"""Questions, documents and gold; and MuSiQue's own predictions and labels, in its setting of 20 paragraphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

Kind = Literal["multi_hop", "single_hop", "summary", "unanswerable"]
AnswerStyle = Literal["short", "summary"]
Scalar = str | int | float | bool | None

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a corpus. Its identity in a pooled corpus is (title, text), never the title."""

    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of retrieval: a span of a document, the whole document unless chunking is on.

    `start_char` and `end_char` delimit `text` in the document's text (end exclusive). `parts`: where `text` is several
    spans of the document with only a space between them, these spans; empty = it is the one.
    """

    passage_id: str
    doc_id: str
    title: str
    text: str
    start_char: int
    end_char: int
    parts: tuple[tuple[int, int], ...] = ()

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The spans of the document's text that `text` is made of, in its order."""
        return self.parts or ((self.start_char, self.end_char),)


@dataclass(frozen=True, slots=True)
class Question:
    """One question as the benchmark knows it; a strategy only ever sees its `Task`.

    `hops` is the length of the longest reasoning path counted in facts (1 for single-hop, None when the
    dataset does not say); `hop_shape` is MuSiQue's: 2hop, 3hop1, 3hop2, 4hop1, 4hop2 or 4hop3.
    """

    question_id: str
    text: str
    kind: Kind
    hops: int | None = None
    hop_shape: str | None = None
    split: str | None = None

    @property
    def task(self) -> Task:
        """What a strategy may know of this question. An unanswerable one looks like any other."""
        return Task(self.text, "summary" if self.kind == "summary" else "short")


@dataclass(frozen=True, slots=True)
class Task:
    """What a strategy sees: the question and the form of answer asked for.

    Id, kind and hops stay outside: MuSiQue's ids spell out the number of hops, and a kind "unanswerable"
    would give the game away.
    """

    question: str
    style: AnswerStyle = "short"


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a reference answer and the documents that carry its evidence."""

    text: str
    supporting_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldSentence:
    """A sentence that carries evidence: `text[start:end]` of its document."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Gold:
    """What is known to be right for one question.

    `answers`: the main answer, then its aliases; empty only when not answerable.
    `supporting_ids`: documents that together carry the evidence. `hop_order`: the same documents in the
    order of the decomposition, one per hop (None where the dataset gives none). `official`: the dataset has an official
    evaluation, and answers are compared by it; it follows from where the dataset is from, and is in no fingerprint.
    `sentences`: those of the supporting documents that carry the evidence (empty where the dataset names none).
    """

    question_id: str
    answers: tuple[str, ...]
    supporting_ids: tuple[str, ...]
    hop_order: tuple[str, ...] | None = None
    answerable: bool = True
    claims: tuple[Claim, ...] = ()
    official: bool = field(default=False, metadata={"of_the_loader": True})
    sentences: tuple[GoldSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus, questions on it and their gold, in a fixed order.

    `name`: as the user asked for it. `fingerprint`: changes with any document, question or gold.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    gold: Mapping[str, Gold]
    fingerprint: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfficialPrediction:
    """One line of a prediction file. `support_idxs`: paragraphs of the record by their `idx`."""

    question_id: str
    answer: str
    support_idxs: tuple[int, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class OfficialGold:
    """The labels of one record. `answers`: the main answer, then its aliases; of an unanswerable one nobody asks.

    In the full setting a question and its unanswerable twin share `question_id`.
    """

    question_id: str
    answers: tuple[str, ...]
    support_idxs: tuple[int, ...]
    answerable: bool


Group = TypeVar("Group", bound=Hashable)
Member = TypeVar("Member")


def grouped(pairs: Iterable[tuple[Group, Member]]) -> dict[Group, list[Member]]:
    """Members by their group; groups and members in the order in which they come."""
    groups: dict[Group, list[Member]] = {}
    for group, member in pairs:
        groups.setdefault(group, []).append(member)
    return groups
