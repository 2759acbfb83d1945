"""HotpotQA and 2WikiMultihopQA from their official JSON or from the hub's tables, over a pooled corpus.

Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering", EMNLP 2018; Ho et al.,
"Constructing A Multi-hop QA Dataset for Comprehensive Evaluation of Reasoning Steps", COLING 2020.

The official files hold one array of records: `_id`, `question`, `answer`, `type`, `supporting_facts` as [title,
sentence] and `context` as [title, [sentences]]. A title names a paragraph of the record's own context only; in the
pool, a paragraph is known by title and text. One record's context is mapped to paragraphs of the pool first, and its
supporting facts are then found by title.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from arena.datasets.records import FileRow, Pool, make_dataset, read_questions, some
from arena.files import DECODER, fault_of
from arena.types import Dataset, Gold, GoldSentence, Question

Spans = tuple[tuple[int, int], ...]
"""Start and end of each sentence of a paragraph's text."""


@dataclass(slots=True)
class Context:
    """Paragraphs of one record."""

    _paragraphs: dict[str, list[tuple[str, Spans]]] = field(default_factory=dict)

    def add(self, title: str, doc_id: str, sentences: Spans) -> None:
        """Note the pooled document of a paragraph, and where its sentences stand in its text."""
        self._paragraphs.setdefault(_plain(title), []).append((doc_id, sentences))

    def find(self, title: str, sentence: int) -> tuple[str, tuple[int, int] | None] | None:
        """The document of this title, and the span of the sentence (None: it has none of that number).

        Of several, the first that has the sentence, else the first. None: not here. Titles match whatever their case,
        Unicode form or HTML escapes, as the files use them unevenly.
        """
        paragraphs = self._paragraphs.get(_plain(title), ())
        for doc_id, spans in paragraphs:
            if 0 <= sentence < len(spans):
                return doc_id, spans[sentence]
        return (paragraphs[0][0], None) if paragraphs else None


def read_context(row: FileRow, pool: Pool, faults: _Faults) -> Context:
    """The paragraphs in field `context`, each added to the pool; those that have a title but no text are counted.

    Raises:
        DatasetError: the field is absent or not a list of [title, [sentences]].
    """
    context = Context()
    for index, paragraph in enumerate(row.items("context", list)):
        if len(paragraph) != 2 or type(paragraph[0]) is not str or not _are_texts(paragraph[1]):
            raise row.error(f"'context[{index}]' must be [title, [sentences]]")
        title, sentences = paragraph
        text, spans = _joined(sentences)
        if text:
            context.add(title, pool.add(title, text), spans)
        else:
            faults.empty_paragraphs += 1
    return context


def as_official(row: FileRow) -> FileRow:
    """A record in the form of the official files, whichever of the three forms in use it has.

    The hub's tables have `id` for `_id` and pairs as two columns: `supporting_facts` with `title` and `sent_id`,
    `context` with `title` and `sentences`. Others hold both lists as JSON text.

    Raises:
        DatasetError: two columns of a pair are not lists of one length, or a text is not JSON.
    """
    fields = dict(row.fields)
    if "_id" not in fields and "id" in fields:
        fields["_id"] = fields.pop("id")
    for name, columns in _COLUMNS.items():
        if isinstance(fields.get(name), str):
            fields[name] = _decoded(row, name, fields[name])
        if isinstance(fields.get(name), dict):
            nested = FileRow(f"{row.place}, {name}", fields[name])
            first, second = (nested.require(column, list) for column in columns)
            if len(first) != len(second):
                raise nested.error(f"{columns[0]!r} has {len(first)} members and {columns[1]!r} {len(second)}")
            fields[name] = [list(pair) for pair in zip(first, second, strict=True)]
    return FileRow(row.place, fields)


_COLUMNS: Mapping[str, tuple[str, str]] = {"supporting_facts": ("title", "sent_id"), "context": ("title", "sentences")}


def _decoded(row: FileRow, name: str, text: str) -> Any:
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise row.error(f"field {name!r} is a text and not JSON: {fault_of(error)}") from None


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


def _joined(sentences: list[str]) -> tuple[str, Spans]:
    """One text, and where each sentence stands in it, without the white space around it.

    HotpotQA's sentences bring the space before them along, those of 2WikiMultihopQA do not.
    """
    text, spans = "", list[tuple[int, int]]()
    for sentence in sentences:
        text += sentence if not text or sentence[:1].isspace() else f" {sentence}"
        end = len(text.rstrip())
        spans.append((max(0, end - len(sentence.strip())), end))
    before = len(text) - len(text.lstrip())
    return text.strip(), tuple((max(0, start - before), max(0, end - before)) for start, end in spans)


def _plain(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", html.unescape(title)).casefold().split())


HOTPOTQA_HOPS: Mapping[str, int] = {"bridge": 2, "comparison": 2}
TWO_WIKI_HOPS: Mapping[str, int] = {"comparison": 2, "inference": 2, "compositional": 2, "bridge_comparison": 4}
"""Kind of question, as the records' `type` says it -> facts on the reasoning path."""


@dataclass(slots=True)
class _Faults:
    """What a file lacks without being wrong, for the notes."""

    empty_paragraphs: int = 0
    without_gold: list[str] = field(default_factory=list)
    unknown_types: set[str] = field(default_factory=set)


def _load(path: Path, name: str, hops: Mapping[str, int]) -> Dataset:
    """All records in the file's order; documents in order of first appearance.

    A question of which one supporting title is missing from its own context gets no supporting documents at all:
    recall of half the evidence would flatter.

    Raises:
        DatasetError: the file cannot be read, has no records, or a record is malformed or repeated.
    """
    pool, faults = Pool(), _Faults()

    def read(record: FileRow) -> tuple[Question, Gold]:
        row = as_official(record)
        question = _question(row, hops, faults)
        return question, _gold(row, question.question_id, pool, faults)

    empty = " holds no records; expected one JSON array of records, one record per line, or a table"
    questions, gold = read_questions(path, read, "_id", empty)
    notes = _notes(faults, len(questions), hops)
    return make_dataset(f"{name}:{path}", pool.documents, questions, gold, notes)


load_hotpotqa = partial(_load, name="hotpotqa", hops=HOTPOTQA_HOPS)
"""HotpotQA, distractor or full-wiki setting, train or development file. Raises as `_load` does."""
load_two_wiki = partial(_load, name="2wikimultihopqa", hops=TWO_WIKI_HOPS)
"""2WikiMultihopQA, train or development file; its separate file of aliases is not read. Raises as `_load` does."""


def _question(row: FileRow, hops: Mapping[str, int], faults: _Faults) -> Question:
    asked = row.optional("type", str)
    if asked is not None and asked not in hops:
        faults.unknown_types.add(asked)
    return Question(
        question_id=row.identifier("_id"),
        text=row.identifier("question"),
        kind="multi_hop",
        hops=None if asked is None else hops.get(asked),
    )


def _gold(row: FileRow, question_id: str, pool: Pool, faults: _Faults) -> Gold:
    for name in ("answer", "supporting_facts"):
        if name not in row.fields:
            raise row.error(f"no field {name!r}; the test files hide their labels: use the train or dev file")
    context = read_context(row, pool, faults)
    supporting_ids, sentences = _supporting(row, context)
    if not supporting_ids:
        faults.without_gold.append(question_id)
    return Gold(question_id, (row.identifier("answer"),), supporting_ids, official=True, sentences=sentences)


def _supporting(row: FileRow, context: Context) -> tuple[tuple[str, ...], tuple[GoldSentence, ...]]:
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
            f"title is not in their own context (as in the full-wiki setting): {some(faults.without_gold)}. "
            "Metrics of retrieval and support are undefined on them."
        )
    if faults.empty_paragraphs:
        notes.append(f"{faults.empty_paragraphs} paragraphs without text were left out.")
    if faults.unknown_types:
        notes.append(f"Hops are unknown where 'type' is {some(sorted(faults.unknown_types))}: known are {list(hops)}.")
    return tuple(notes)
