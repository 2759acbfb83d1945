"""`arena inspect`: one question, from the journals of a run that need not be finished. Asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.metrics.case import Case
from arena.report.question import CellPage, QuestionPage, current_verdicts, gold_documents
from arena.report.text import print_parts
from arena.scoring import ScoreTable, score_records
from arena.store import RunStore
from arena.types import Cell, Document, RunRecord, Verdict
from experiments.inspecting.cells import chosen_cells
from experiments.inspecting.json_form import page_json
from experiments.inspecting.printing import page_parts
from experiments.inspecting.question_records import check_asked, records_of, verdicts_of
from experiments.run.scoring import JUDGES, PastRun, documents_of, open_past_run
from experiments.terminal.tables import Console


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
    records = records_of(run.store, question_id, keys)
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
    verdicts = verdicts_of(run.store, question_id, [record.cell.key for record in records])
    table = _scored(run, records, documents, verdicts)
    cells = []
    for record, cell in zip(records, table.cells, strict=True):
        own = [one for one in verdicts if one.cell == record.cell.key]
        current = current_verdicts(Case(record, question, gold, documents), own)
        cells.append(CellPage.of(record, cell, run.prices, current))
    return QuestionPage(question, gold, gold_documents(gold, documents), tuple(cells))


def _scored(
    run: PastRun, records: Sequence[RunRecord], documents: Mapping[str, Document], verdicts: Sequence[Verdict]
) -> ScoreTable:
    """The scores of these records alone, as the run's table has them."""
    judging, judges = run.config.judge, run.manifest.get(JUDGES, {})
    return score_records(
        records,
        run.dataset,
        run.prices,
        documents=documents,
        verdicts=verdicts,
        judge_metrics=tuple(dict.fromkeys((*(judging.metrics if judging else ()), *judges))),
        judges=judges,
        judge_base_url=judging.llm.base_url if judging else None,
    )


def _named(page: QuestionPage) -> dict[str, None]:
    """The documents that gold names, and those that any cell retrieved or used; gold first."""
    found = dict.fromkeys(one.doc_id for one in page.gold_documents)
    for cell in page.cells:
        found |= dict.fromkeys(cell.record.answer.used_ids if cell.record.answer else ())
        for retrieval in cell.record.retrievals:
            found |= dict.fromkeys(hit.doc_id for hit in (*retrieval.hits, *retrieval.dropped))
    return found
