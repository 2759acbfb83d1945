"""The question explorer: what of a run goes into the page.

Records and verdicts, read once each, into the chunks of their questions.

The list of all questions, and every answer: what is searched and filtered before any chunk is opened.

How much of a run fits the page, by the size of what is written, measured.

Every question of every cell stays, with each hit, decision, score and call. What gives way where there is no room, in
this order: the texts of documents, down to their first words; the lanes of the hits; the length of answers and of what
controllers and judges wrote. The same run is always cut in the same places.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.metrics.failures import failure_classes
from arena.plan import Key
from arena.report.explorer.chunk import CHUNK_QUESTIONS, Chunk
from arena.report.explorer.columns import (
    FLAGS,
    OUTCOMES,
    Lines,
    Vocabulary,
    cut,
    integers,
    island_chars,
    member,
    members,
    n_cut,
)
from arena.report.explorer.documents import DocumentShelf
from arena.report.names import short_names
from arena.report.question import CellPage, gold_documents
from arena.report.source import PageSource
from arena.scoring import ScoreTable
from arena.types import Dataset, Question


def filled_chunks(source: PageSource, questions: Sequence[Question], metrics: Sequence[str]) -> list[Chunk]:
    """The chunks of `questions`, in their order: records that were scored, and verdicts on what they still say."""
    chunks = [Chunk(metrics) for _ in range(-(-len(questions) // CHUNK_QUESTIONS))]
    places = {question.question_id: place for place, question in enumerate(questions)}
    cells = {cell.cell.key: (number, cell) for number, cell in enumerate(source.table.cells)}
    subjects: dict[Key, str] = {}
    for record in source.records():
        question_id = record.question_id
        number, cell = cells.get(record.cell.key, (0, None))
        if cell is None or question_id not in places or question_id not in cell.scores:
            continue
        question, gold = questions[places[question_id]], source.dataset.gold[question_id]
        chunk, slot = chunks[places[question_id] // CHUNK_QUESTIONS], places[question_id] % CHUNK_QUESTIONS
        if slot not in chunk:
            chunk.open(slot, question, gold_documents(gold, source.documents))
        chunk.add(slot, number, CellPage.of(record, cell, source.prices))
        if source.table.judges is not None:
            subjects[record.cell.key, question_id] = subject_of(Case(record, question, gold, source.documents)).sha
    for verdict in source.verdicts():
        if subjects.get((verdict.cell, verdict.question_id)) == verdict.subject_sha:
            place = places[verdict.question_id]
            chunks[place // CHUNK_QUESTIONS].add_verdict(place % CHUNK_QUESTIONS, cells[verdict.cell][0], verdict)
    return chunks


def questions_of(table: ScoreTable, dataset: Dataset) -> list[Question]:
    """The questions that any cell has a record of, in the order of the dataset."""
    asked = {question_id for cell in table.cells for question_id in cell.scores}
    return [question for question in dataset.questions if question.question_id in asked]


def written_list(table: ScoreTable, questions: Sequence[Question], dataset: Dataset, chars: int) -> dict[str, Any]:
    """Per question its id, text, kind, hops, shape and gold answers, each text cut to `chars` characters.

    `outcome` and `finding`: question by question through the cells, the place in `OUTCOMES` and in `findings`; None
    where a cell has no record.
    """
    findings, pairs = Vocabulary(), [(cell, one.question_id) for one in questions for cell in table.cells]
    used = (cell.usage.get(question_id) for cell, question_id in pairs)
    found = (cell.failures.get(question_id) for cell, question_id in pairs)
    return {
        "id": [question.question_id for question in questions],
        "text": [cut(question.text, chars) for question in questions],
        "kind": [question.kind for question in questions],
        "hops": integers(question.hops for question in questions),
        "shape": [question.hop_shape for question in questions],
        "gold": [[cut(one, chars) for one in dataset.gold[question.question_id].answers] for question in questions],
        "answerable": [int(dataset.gold[question.question_id].answerable) for question in questions],
        "outcome": integers(OUTCOMES.index(one.outcome) if one else None for one in used),
        "finding": integers(findings.number(one.failure) if one else None for one in found),
        "findings": findings.written(),
    }


Length = TypeVar("Length")
Made = TypeVar("Made", "Writing", "Texts")

ISLAND_CHARS = 5_000_000
"""What the explorer may take of a page."""

CONTENTS_CHARS = 40_000
"""Kept free for the table of contents."""

WORDS_CHARS = (4_000, 1_000, 300, 100)
"""Lengths to which answers and other texts of records are cut: the first with which they leave room for the rest."""

TEXTS_CHARS = (None, 8_000, 4_000, 2_000, 1_400, 1_000, 700, 500, 350, 250, 180, 150, 120, 100, 80, 60, 40)
"""Lengths to which documents are cut: the first that fits. None = whole; of none that fits, no text is kept."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Answers and words cut to `chars`; `n_cut` of them were longer."""

    chars: int
    answers: bytes
    words: list[bytes]
    n_cut: int

    @property
    def size(self) -> int:
        """In characters of the island."""
        return island_chars(self.answers, *self.words)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of documents, cut to `chars` (None: whole; 0: none is kept). `members`: (number of the first, member)."""

    chars: int | None
    members: list[tuple[int, bytes]]
    n_cut: int = 0

    @property
    def size(self) -> int:
        """In characters of the island."""
        return island_chars(*(content for _, content in self.members))


def fitting_writing(answers: Sequence[str | None], chunks: Sequence[Chunk], room: int) -> Writing:
    """The longest that takes at most half the `room`, in characters of the island; else the shortest.

    Of the answers the distinct ones are written, and the number of each.
    """
    distinct = Vocabulary()
    numbers = integers(map(distinct.number, answers))

    def cut_to(chars: int) -> Writing:
        texts, words = distinct.written(chars), [chunk.words(chars) for chunk in chunks]
        n_shortened = n_cut(texts) + sum(map(n_cut, words))
        return Writing(chars, member({"texts": texts, "number": numbers}), members(words), n_shortened)

    return _longest(WORDS_CHARS, cut_to, room // 2) or cut_to(WORDS_CHARS[-1])


def fitting_texts(shelf: DocumentShelf, room: int) -> Texts:
    """The longest that fits the `room`, in characters of the island."""

    def cut_to(chars: int | None) -> Texts:
        firsts, pieces = zip(*shelf.members(chars), strict=True) if len(shelf) else ((), ())
        return Texts(chars, list(zip(firsts, members(pieces), strict=True)), sum(map(n_cut, pieces)))

    return _longest(TEXTS_CHARS, cut_to, room) or Texts(0, [], n_cut=len(shelf))


def _longest(lengths: Sequence[Length], make: Callable[[Length], Made], room: int) -> Made | None:
    """What is made of the first of `lengths` that fits the room (None: none does), tried first, then by halves.

    They go from long to short, and what is made of a shorter one is smaller.
    """
    made = make(lengths[0])
    if made.size <= room:
        return made
    found, low, high = None, 1, len(lengths)
    while low < high:
        middle = (low + high) // 2
        made = make(lengths[middle])
        if made.size <= room:
            found, high = made, middle
        else:
            low = middle + 1
    return found


FORMAT = 1
LIST_CHARS = 4_000
"""Length to which questions and gold answers are cut."""


def explorer_island(source: PageSource, room: int = ISLAND_CHARS) -> str:
    """Every question of every cell, as text for an element that is no script to the browser (see `columns`).

    It takes `room` characters where that can be. Reads the records once; the same run gives the same text.
    """
    questions, shelf, lines = questions_of(source.table, source.dataset), DocumentShelf(source.documents), Lines()
    scores = (score for cell in source.table.cells for of_question in cell.scores.values() for score in of_question)
    metrics = list(dict.fromkeys(score.metric for score in scores))
    chunks = filled_chunks(source, questions, metrics)
    # Writing the numbers names documents to the shelf: before that it knows neither their names nor their texts.
    numbers = members(chunk.numbers(shelf) for chunk in chunks)
    listed = member(written_list(source.table, questions, source.dataset, LIST_CHARS))
    names = member(shelf.names())
    left = room - CONTENTS_CHARS - island_chars(listed, names, *numbers)
    answers = [cell.answers.get(one.question_id) for one in questions for cell in source.table.cells]
    writing = fitting_writing(answers, chunks, left)
    lanes = members(chunk.lanes() for chunk in chunks)
    without_lanes = left - writing.size
    left = without_lanes - island_chars(*lanes)
    texts = fitting_texts(shelf, left if left >= 0 else without_lanes)
    contents = _described(source) | {
        "metrics": metrics,
        "n_questions": len(questions),
        "list": lines.add(listed),
        "answers": lines.add(writing.answers),
        "names": lines.add(names),
        "chunks": [[lines.add(one), lines.add(words)] for one, words in zip(numbers, writing.words, strict=True)],
        "lanes": [lines.add(one) for one in lanes] if left >= 0 else None,
        "texts": [[first, lines.add(one)] for first, one in texts.members],
        "notes": _notes(writing, texts, len(shelf), has_lanes=left >= 0),
    }
    return lines.island(contents)


def _described(source: PageSource) -> dict[str, Any]:
    """What there is to choose from, and what its names mean."""
    names = short_names(source.board)
    return {
        "format": FORMAT,
        "run": source.board.run_id,
        "inspect": f"arena inspect {shlex.quote(source.board.run_id)}",
        "cells": [
            {
                "key": cell.cell.key,
                "name": names.get(cell.cell.key, cell.cell.key),
                "llm": cell.cell.llm,
                "params": [[name, str(value)] for name, value in cell.cell.params.items()],
            }
            for cell in source.table.cells
        ],
        "classes": {
            one.name: {
                "right": one.stage == "right",
                "failure": one.is_failure,
                "meaning": one.meaning,
                "rule": one.rule,
            }
            for one in failure_classes().values()
        },
        "outcomes": OUTCOMES,
        "flags": FLAGS,
        "chunk_questions": CHUNK_QUESTIONS,
    }


def _notes(writing: Writing, texts: Texts, n_documents: int, *, has_lanes: bool) -> list[str]:
    """What of the run is not in the page, one sentence each."""
    notes = []
    if texts.chars == 0:
        notes.append(f"the texts of all {n_documents:,} documents")
    elif texts.n_cut:
        notes.append(
            f"what follows the first {texts.chars:,} characters of {texts.n_cut:,} documents, of {n_documents:,}"
        )
    if not has_lanes:
        notes.append("ranks and scores in the lanes")
    if writing.n_cut:
        notes.append(
            f"what follows the first {writing.chars:,} characters of {writing.n_cut:,} long answers and other texts"
        )
    return notes
