"""`arena inspect`: one question, from the journals of a run that need not be finished. Asks no model.

No record of another question is read. JSON holds the records as the journal has them, and beside them what was derived.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from arena.errors import RunStoreError
from arena.metrics.case import Case
from arena.report.question import CellPage, QuestionPage, current_verdicts, gold_documents
from arena.report.text import print_parts
from arena.store import RECORDS, VERDICTS, RunStore
from arena.store.journal import RECORD_LINES, VERDICT_LINES, LineFormat, record_of
from arena.types import Cell, Document, Gold, Question, RunRecord, Score, Verdict
from experiments.execution.scoring import PastRun, documents_of, open_past_run, score_some
from experiments.terminal.tables import Console
from experiments.views.inspect_text import chosen_cells, page_parts

T = TypeVar("T")

_RECORD, _QUESTION, _GOLD = TypeAdapter(RunRecord), TypeAdapter(Question), TypeAdapter(Gold)
_SCORES, _VERDICTS = TypeAdapter(tuple[Score, ...]), TypeAdapter(tuple[Verdict, ...])


def page_json(run_id: str, page: QuestionPage, documents: Mapping[str, Document]) -> str:
    """One object; nothing is rounded or cut, and what is unknown is null. `documents`: their texts, by id."""
    content = {
        "run_id": run_id,
        "question": _QUESTION.dump_python(page.question, mode="json"),
        "gold": _GOLD.dump_python(page.gold, mode="json"),
        "gold_documents": [asdict(one) for one in page.gold_documents],
        "cells": [_cell(page, cell) for cell in page.cells],
        "documents": {one.doc_id: {"title": one.title, "text": one.text} for one in documents.values()},
    }
    return json.dumps(content, indent=2, ensure_ascii=True)


def _cell(page: QuestionPage, cell: CellPage) -> dict[str, Any]:
    usage, spent, of = cell.usage, cell.usage.account.whole, cell.failure_class
    return {
        "key": cell.record.cell.key,
        "record": _RECORD.dump_python(cell.record, mode="json"),
        "failure_class": {**asdict(cell.finding), "stage": of.stage, "meaning": of.meaning, "rule": of.rule},
        "scores": _SCORES.dump_python(cell.scores, mode="json"),
        "verdicts": _VERDICTS.dump_python(cell.verdicts, mode="json"),
        "roles": [
            {
                "role": use.role,
                "models": use.models,
                "calls": use.calls,
                "retries": use.retries,
                "input_tokens": use.spent.input_tokens.value,
                "output_tokens": use.spent.output_tokens.value,
                "usd": use.spent.usd.value,
                "service_seconds": use.account.service_seconds,
                "waiting_seconds": use.waiting_seconds,
                "repairs": use.account.repairs,
                "failed": use.account.failed_calls,
                "truncated": use.truncated,
                "replayed": use.account.replayed.calls,
            }
            for use in cell.roles
        ],
        "latency_seconds": usage.latency_seconds,
        "measured": usage.measured,
        "usd": spent.usd.value,
        "gold_retrieved": _gold_retrieved(page, cell),
    }


def _gold_retrieved(page: QuestionPage, cell: CellPage) -> list[dict[str, Any]]:
    """Retrieval by retrieval, gold document id -> rank of its first hit."""
    names = {one.doc_id for one in page.gold_documents}
    found = []
    for retrieval in cell.record.retrievals:
        ranks: dict[str, int] = {}
        for hit in retrieval.hits:
            if hit.doc_id in names:
                ranks.setdefault(hit.doc_id, hit.rank)
        found.append(ranks)
    return found


_NEAREST = 5


def _of_question(store: RunStore, name: str, lines: LineFormat[T], question_id: str, cells: Collection[str]) -> list[T]:
    """What a journal has of the question in each of `cells`: the newest record, or all verdicts."""
    path = store.folder / name
    newest = (line for line in store.newest_lines(name) if line.key[1] == question_id and line.key[0] in cells)
    return [record_of(path, line, lines) for line in newest]


def check_asked(store: RunStore, question_id: str, asked: Collection[str]) -> None:
    """Raises `RunStoreError`, naming the nearest ids, if the question is not among those of the run."""
    if question_id not in asked:
        near = sorted(asked, key=lambda one: (-SequenceMatcher(None, question_id, one).ratio(), one))[:_NEAREST]
        raise RunStoreError(
            f"run {store.run_id!r} has no question {question_id!r} among its {len(asked):,}; the nearest ids are "
            f"{', '.join(map(repr, near))}"
        )


@dataclass(frozen=True, slots=True)
class Inspection:
    """One question of one run. `cells`: those asked for that are to answer it; one may have no record yet.

    `documents`: every document that the page names and whose text is known, by id.
    """

    run_id: str
    page: QuestionPage
    cells: Sequence[Cell]
    documents: Mapping[str, Document]


def inspect_question(
    run_folder: Path, question_id: str, cell_names: Sequence[str] = (), data_at: str | None = None
) -> Inspection:
    """Everything that is known of one question of a run, whose dataset lies at `data_at` (None: where it says).

    Raises:
        RunStoreError: there is no such run, or no such question in it; or it is damaged.
        UnknownNameError: a cell is none of the run's.
        DatasetError: the dataset cannot be loaded.
    """
    run = open_past_run(RunStore.open(run_folder, data_at))
    planned = run.plan.cells
    check_asked(run.store, question_id, {one for cell in planned for one in cell.question_ids})
    chosen = {one.key for one in chosen_cells([one.cell for one in planned], cell_names)}
    cells = [one.cell for one in planned if one.cell.key in chosen and question_id in one.question_ids]
    keys = [cell.key for cell in cells]
    records = _of_question(run.store, RECORDS, RECORD_LINES, question_id, keys)
    documents = documents_of(run)
    page = _page(run, question_id, sorted(records, key=lambda record: keys.index(record.cell.key)), documents)
    named = {name: documents[name] for name in _named(page) if name in documents}
    return Inspection(run.store.run_id, page, cells, named)


def print_question(inspection: Inspection, console: Console, *, json: bool = False) -> None:
    """Print it as text, or as one JSON object, which has everything whole."""
    if json:
        text = page_json(inspection.run_id, inspection.page, inspection.documents)
        console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
    else:
        print_parts(page_parts(inspection.page, inspection.cells, inspection.documents), console)


def _page(
    run: PastRun, question_id: str, records: Sequence[RunRecord], documents: Mapping[str, Document]
) -> QuestionPage:
    question = next(one for one in run.dataset.questions if one.question_id == question_id)
    gold = run.dataset.gold[question_id]
    there, keys = (run.store.folder / VERDICTS).exists(), [record.cell.key for record in records]
    verdicts = _of_question(run.store, VERDICTS, VERDICT_LINES, question_id, keys) if there else []
    table = score_some(run, records, documents, verdicts)
    cells = []
    for record, cell in zip(records, table.cells, strict=True):
        own = [one for one in verdicts if one.cell == record.cell.key]
        current = current_verdicts(Case(record, question, gold, documents), own)
        cells.append(CellPage.of(record, cell, run.prices, current))
    return QuestionPage(question, gold, gold_documents(gold, documents), tuple(cells))


def _named(page: QuestionPage) -> dict[str, None]:
    """The documents that gold names, and those that any cell retrieved or used; gold first."""
    found = dict.fromkeys(one.doc_id for one in page.gold_documents)
    for cell in page.cells:
        found |= dict.fromkeys(cell.record.answer.used_ids if cell.record.answer else ())
        for retrieval in cell.record.retrievals:
            found |= dict.fromkeys(hit.doc_id for hit in (*retrieval.hits, *retrieval.dropped))
    return found
