"""HotpotQA and 2WikiMultihopQA from their official JSON or from the hub's tables, over a pooled corpus.

Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering", EMNLP 2018; Ho et al.,
"Constructing A Multi-hop QA Dataset for Comprehensive Evaluation of Reasoning Steps", COLING 2020.

The official files hold one array of records: `_id`, `question`, `answer`, `type`, `supporting_facts` as [title,
sentence] and `context` as [title, [sentences]]. A title names a paragraph of the record's own context only; in the
pool, a paragraph is known by title and text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena.datasets.context import Context, as_official, read_context
from arena.datasets.fingerprint import fingerprint
from arena.datasets.lines import Row
from arena.datasets.pool import Pool
from arena.datasets.records import read_records
from arena.errors import DatasetError
from arena.types import Dataset, Gold, GoldSentence, Question

HOTPOTQA_HOPS: Mapping[str, int] = {"bridge": 2, "comparison": 2}
TWO_WIKI_HOPS: Mapping[str, int] = {"comparison": 2, "inference": 2, "compositional": 2, "bridge_comparison": 4}
"""Kind of question, as the records' `type` says it -> facts on the reasoning path."""

_SHOWN = 3


@dataclass(slots=True)
class _Faults:
    """What a file lacks without being wrong, for the notes."""

    empty_paragraphs: int = 0
    without_gold: list[str] = field(default_factory=list)
    unknown_types: set[str] = field(default_factory=set)


def load_hotpotqa(path: Path) -> Dataset:
    """HotpotQA, distractor or full-wiki setting, train or development file. Raises as `_load` does."""
    return _load(path, "hotpotqa", HOTPOTQA_HOPS)


def load_two_wiki(path: Path) -> Dataset:
    """2WikiMultihopQA, train or development file; its separate file of aliases is not read. Raises as `_load` does."""
    return _load(path, "2wikimultihopqa", TWO_WIKI_HOPS)


def _load(path: Path, name: str, hops: Mapping[str, int]) -> Dataset:
    """All records in the file's order; documents in order of first appearance.

    A question of which one supporting title is missing from its own context gets no supporting documents at all:
    recall of half the evidence would flatter.

    Raises:
        DatasetError: the file cannot be read, has no records, or a record is malformed or repeated.
    """
    pool, faults = Pool(), _Faults()
    questions, gold, places = dict[str, Question](), dict[str, Gold](), dict[str, str]()
    for record in read_records(path):
        row = as_official(record)
        question = _question(row, hops, faults)
        if question.question_id in places:
            raise row.error(f"_id {question.question_id!r} was already used at {places[question.question_id]}")
        places[question.question_id] = row.place
        questions[question.question_id] = question
        gold[question.question_id] = _gold(row, question.question_id, pool, faults)
    if not questions:
        raise DatasetError(
            f"{path} holds no records; expected one JSON array of records, one record per line, or a table"
        )
    documents, asked = pool.documents, tuple(questions.values())
    notes = _notes(faults, len(asked), hops)
    return Dataset(f"{name}:{path}", documents, asked, gold, fingerprint(documents, asked, gold), notes)


def _question(row: Row, hops: Mapping[str, int], faults: _Faults) -> Question:
    asked = row.optional("type", str)
    if asked is not None and asked not in hops:
        faults.unknown_types.add(asked)
    return Question(
        question_id=row.identifier("_id"),
        text=row.identifier("question"),
        kind="multi_hop",
        hops=None if asked is None else hops.get(asked),
    )


def _gold(row: Row, question_id: str, pool: Pool, faults: _Faults) -> Gold:
    for name in ("answer", "supporting_facts"):
        if name not in row.fields:
            raise row.error(f"no field {name!r}; the test files hide their labels: use the train or dev file")
    context = read_context(row, pool)
    faults.empty_paragraphs += context.empty
    supporting_ids, sentences = _supporting(row, context)
    if not supporting_ids:
        faults.without_gold.append(question_id)
    return Gold(question_id, (row.identifier("answer"),), supporting_ids, official=True, sentences=sentences)


def _supporting(row: Row, context: Context) -> tuple[tuple[str, ...], tuple[GoldSentence, ...]]:
    """Documents and sentences; no sentence at all where one is named that its paragraph has not."""
    found: dict[str, None] = {}
    sentences: dict[GoldSentence, None] = {}
    whole = True
    for index, fact in enumerate(row.items("supporting_facts", list)):
        if len(fact) != 2 or type(fact[0]) is not str or type(fact[1]) is not int:
            raise row.error(f"'supporting_facts[{index}]' must be [title, sentence number], not {fact!r}")
        place = context.find(fact[0], fact[1])
        if place is None:
            return (), ()
        doc_id, span = place
        found[doc_id] = None
        whole = whole and span is not None and span[0] < span[1]
        if span is not None:
            sentences[GoldSentence(doc_id, *span)] = None
    return tuple(found), tuple(sentences) if whole else ()


def _notes(faults: _Faults, n_questions: int, hops: Mapping[str, int]) -> tuple[str, ...]:
    notes = [
        "Questions are asked over the pooled paragraphs of all questions, not over their own: "
        "scores do not compare with those of the distractor setting."
    ]
    if faults.without_gold:
        notes.append(
            f"{len(faults.without_gold)} of {n_questions} questions have no supporting documents, as a supporting "
            f"title is not in their own context (as in the full-wiki setting): {_some(faults.without_gold)}. "
            "Metrics of retrieval and support are undefined on them."
        )
    if faults.empty_paragraphs:
        notes.append(f"{faults.empty_paragraphs} paragraphs without text were left out.")
    if faults.unknown_types:
        notes.append(f"Hops are unknown where 'type' is {_some(sorted(faults.unknown_types))}: known are {list(hops)}.")
    return tuple(notes)


def _some(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
