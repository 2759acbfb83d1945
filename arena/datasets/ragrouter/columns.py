"""The columns of RAGRouter-Bench under both names in use, in any mixture.

The authors' README calls them `doc_id`, `title`, `text` and `question_id`, `question`, `answer`, `query_type`,
`supporting_facts`; the program that made the questions, and projects that read the files, have `id`, `type`, and
`content` or `context` for a text. Ids may be numbers. Other columns are passed over.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.datasets.lines import MOST_HOPS, Row
from arena.types import Document, Kind

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
class Asked:
    """A question as its row tells it. `facts`: members of its evidence, unread; `hops`: None where no column says."""

    row: Row
    question_id: str
    text: str
    answer: str
    kind: Kind
    facts: tuple[Any, ...]
    hops: int | None


def read_document(row: Row) -> Document:
    """One row of the corpus; title may be absent. Raises `DatasetError`: a column is missing, mistyped or blank."""
    return Document(_name(row, DOCUMENT_ID), row.optional("title", str) or "", _text(row, TEXT))


def read_asked(row: Row) -> Asked:
    """One row of the questions. Raises `DatasetError`: a column is missing, mistyped or blank, or the kind unknown."""
    facts: list[Any] = row.optional(EVIDENCE, list) or []
    return Asked(
        row=row,
        question_id=_name(row, QUESTION_ID),
        text=_text(row, ("question",)),
        answer=_name(row, ("answer",)),
        kind=_kind(row),
        facts=tuple(facts),
        hops=row.count(HOPS, MOST_HOPS),
    )


def _kind(row: Row) -> Kind:
    named = _text(row, KIND)
    kind = KINDS.get(named.strip().lower())
    if kind is None:
        near = difflib.get_close_matches(named, KINDS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise row.error(f"unknown kind {named!r}: {hint}known are {', '.join(KINDS)}")
    return kind


def _name(row: Row, names: Sequence[str]) -> str:
    """A text or a whole number, as text."""
    column = _column(row, names)
    value = row.fields[column]
    return str(value) if type(value) is int else row.identifier(column)


def _text(row: Row, names: Sequence[str]) -> str:
    return row.identifier(_column(row, names))


def _column(row: Row, names: Sequence[str]) -> str:
    """The first of `names` that the row has with a value; a table of mixed columns fills up with nulls."""
    for name in names:
        if row.fields.get(name) is not None:
            return name
    there = ", ".join(repr(field) for field in row.fields) or "none"
    raise row.error(f"no field {' or '.join(repr(name) for name in names)}; fields there: {there}")
