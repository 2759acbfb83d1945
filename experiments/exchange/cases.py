"""The records of a run as other tools want them: with question, gold and texts, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator

from arena.metrics import Case
from experiments.run.scoring import PastRun, documents_of


def cases_of(run: PastRun) -> Iterator[Case]:
    """The planned records, in the order of the journal."""
    planned = set(run.plan.keys())
    documents = documents_of(run)
    questions = {one.question_id: one for one in run.dataset.questions}
    for record in run.store.records():
        if (record.cell.key, record.question_id) in planned:
            question_id = record.question_id
            yield Case(record, questions[question_id], run.dataset.gold[question_id], documents)


def file_stem(cell_key: str) -> str:
    """A cell's key as a file name: `vanilla/dense/1f2e3d4c` is `vanilla_dense_1f2e3d4c`."""
    return cell_key.replace("/", "_")
