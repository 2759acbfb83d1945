"""The question explorer: what of a run goes into the page, and the page's part that shows it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from arena.metrics.failures import CLASSES
from arena.report.page.explorer.assets import page_part, scripts, styles
from arena.report.page.explorer.budget import (
    CONTENTS_CHARS,
    ISLAND_CHARS,
    Texts,
    Writing,
    fitting_texts,
    fitting_writing,
)
from arena.report.page.explorer.chunk import CHUNK_QUESTIONS
from arena.report.page.explorer.filling import filled_chunks, metrics_of
from arena.report.page.explorer.framing import Lines, island_chars, member, members
from arena.report.page.explorer.listing import Answers, questions_of, written_list
from arena.report.page.explorer.shelf import DocumentShelf
from arena.report.page.explorer.tables import FLAGS, OUTCOMES
from arena.report.page.marks import marks_of
from arena.report.page.source import PageSource

FORMAT = 1
LIST_CHARS = 4_000
"""Length to which questions and gold answers are cut."""


@dataclass(frozen=True, slots=True)
class ExplorerSection:
    """The explorer of one run.

    `island`: text for an element that is no script to the browser (see `framing`); `html`, `script` and `style` name
    nothing outside the page. The script needs the element with the id `explorer-payload`.
    """

    island: str
    html: str
    script: str
    style: str


def explorer_section(source: PageSource, room: int = ISLAND_CHARS) -> ExplorerSection:
    """The explorer of a run; its island takes `room` characters where that can be. Reads the records once."""
    return ExplorerSection(written_island(source, room), page_part(), scripts(), styles())


def written_island(source: PageSource, room: int) -> str:
    """Every question of every cell. The same run gives the same text."""
    questions, metrics, shelf = (
        questions_of(source.table, source.dataset),
        metrics_of(source),
        DocumentShelf(source.documents),
    )
    chunks = filled_chunks(source, questions, metrics)
    lines = Lines()
    numbers = members(chunk.numbers(shelf) for chunk in chunks)
    listed = member(written_list(source.table, questions, source.dataset, LIST_CHARS))
    names = member(shelf.names())
    left = room - CONTENTS_CHARS - sum(map(island_chars, map(len, (listed, names, *numbers))))
    writing = fitting_writing(Answers(source.table, questions), chunks, left)
    lanes = members(chunk.lanes() for chunk in chunks)
    without_lanes = left - writing.size
    left = without_lanes - sum(map(island_chars, map(len, lanes)))
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
    names = {one.cell: mark.name for one, mark in zip(source.board.cells, marks_of(source.board), strict=True)}
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
            for one in CLASSES.values()
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
