"""Every question of every cell as one CSV table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.metrics import Case
from arena.types import Score
from experiments.reviewing.cell_text import guarded, sheet_text
from experiments.run.scoring import PastRun, score_run

_JOINT = " | "


def write_csv(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`questions.csv`: a row per cell and question, a column per metric; an empty field is what has no value.

    Text that a spreadsheet would run or rewrite stands behind an apostrophe. Nothing is left out.
    """
    table = score_run(run)
    metrics = list(dict.fromkeys(score.metric for _, _, score in table.rows()))
    of_cell = {cell.cell.key: cell for cell in table.cells}
    with (target / "questions.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        for number, case in enumerate(cases):
            scored = of_cell[case.record.cell.key]
            question_id = case.record.question_id
            found = scored.failures.get(question_id)
            usage = scored.usage[question_id]
            spent = usage.account.whole
            row = {
                **_asked(case),
                **_happened(case),
                "failure": found.failure if found else None,
                "input_tokens": spent.input_tokens.value,
                "output_tokens": spent.output_tokens.value,
                "usd": spent.usd.value,
                "seconds": usage.latency_seconds if usage.measured else None,
                **_values(scored.scores[question_id], metrics),
            }
            if number == 0:
                writer.writerow(row)
            writer.writerow([_field(value) for value in row.values()])
    return {}


def _asked(case: Case) -> dict[str, Any]:
    cell, question, gold = case.record.cell, case.question, case.gold
    return {
        "cell": cell.key,
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "question_id": question.question_id,
        "kind": question.kind,
        "hops": question.hops,
        "question": question.text,
        "gold_answers": _JOINT.join(gold.answers),
        "supporting_ids": _JOINT.join(gold.supporting_ids),
    }


def _happened(case: Case) -> dict[str, Any]:
    record, answer = case.record, case.record.answer
    return {
        "outcome": record.outcome,
        "answer": answer.text if answer else None,
        "retrieved_ids": _JOINT.join(answer.retrieved_ids) if answer else None,
        "used_ids": _JOINT.join(answer.used_ids) if answer else None,
        "cited_ids": _JOINT.join(answer.cited_ids) if answer else None,
        "error": record.failure.message if record.failure else None,
        "calls": len(record.calls),
    }


def _values(scores: tuple[Score, ...], metrics: list[str]) -> dict[str, float | None]:
    values = {score.metric: score.value for score in scores}
    return {name: values.get(name) for name in metrics}


def _field(value: object) -> object:
    return guarded(sheet_text(value)) if isinstance(value, str) else value
