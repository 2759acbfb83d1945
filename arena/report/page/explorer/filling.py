"""Records and verdicts, read once each, into the chunks of their questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.plan import Key
from arena.report.page.explorer.chunk import CHUNK_QUESTIONS, Chunk
from arena.report.page.source import PageSource
from arena.report.question import CellPage, gold_documents
from arena.scoring import CellScores
from arena.types import Question, RunRecord


@dataclass(slots=True)
class Filling:
    """The chunks of a page in the making. `subjects`: what the records are that a judge may have spoken of."""

    source: PageSource
    questions: Sequence[Question]
    chunks: list[Chunk]
    places: Mapping[str, int]
    cells: Mapping[str, tuple[int, CellScores]]
    subjects: dict[Key, str] = field(default_factory=dict)

    def add_record(self, record: RunRecord) -> None:
        """One record; one that was not scored is no part of the page."""
        number, cell = self.cells.get(record.cell.key, (0, None))
        place = self.places.get(record.question_id)
        if cell is None or place is None or record.question_id not in cell.scores:
            return
        question, slot = self.questions[place], place % CHUNK_QUESTIONS
        gold = self.source.dataset.gold[record.question_id]
        chunk = self.chunks[place // CHUNK_QUESTIONS]
        if slot not in chunk:
            chunk.open(slot, question, gold_documents(gold, self.source.documents))
        chunk.add(slot, number, CellPage.of(record, cell, self.source.prices))
        if self.source.table.judges is not None:
            case = Case(record, question, gold, self.source.documents)
            self.subjects[record.cell.key, record.question_id] = subject_of(case).sha

    def add_verdicts(self) -> None:
        """The verdicts on records that are as they were judged."""
        for verdict in self.source.verdicts():
            if self.subjects.get((verdict.cell, verdict.question_id)) == verdict.subject_sha:
                place = self.places[verdict.question_id]
                chunk, number = self.chunks[place // CHUNK_QUESTIONS], self.cells[verdict.cell][0]
                chunk.add_verdict(place % CHUNK_QUESTIONS, number, verdict)


def filled_chunks(source: PageSource, questions: Sequence[Question], metrics: Sequence[str]) -> list[Chunk]:
    """The chunks of `questions`, in their order."""
    filling = Filling(
        source,
        questions,
        chunks=[Chunk(metrics) for _ in range(-(-len(questions) // CHUNK_QUESTIONS))],
        places={question.question_id: place for place, question in enumerate(questions)},
        cells={cell.cell.key: (number, cell) for number, cell in enumerate(source.table.cells)},
    )
    for record in source.records():
        filling.add_record(record)
    filling.add_verdicts()
    return filling.chunks


def metrics_of(source: PageSource) -> list[str]:
    """Every metric of the run, in the order of the first record that has it."""
    return list(
        dict.fromkeys(
            score.metric for cell in source.table.cells for scores in cell.scores.values() for score in scores
        )
    )
