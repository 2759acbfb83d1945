"""A run in the arena's own exchange format, which `arena import` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from arena.metrics import Case
from arena.scoring import usage_of
from arena.types import RunRecord, ShownDocument
from experiments.exchange.cases import file_stem
from experiments.run.scoring import PastRun


def write_answers(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`CELL.jsonl`, a question a line. Nothing is left out."""
    with ExitStack() as files:
        opened: dict[str, TextIO] = {}
        for case in cases:
            cell = case.record.cell.key
            if cell not in opened:
                opened[cell] = files.enter_context((target / f"{file_stem(cell)}.jsonl").open("w", encoding="utf-8"))
            opened[cell].write(json.dumps(_line(case.record), ensure_ascii=False) + "\n")
    return {}


def _shown(one: ShownDocument) -> dict[str, Any]:
    if one.text is not None:
        return {"doc_id": one.doc_id, "text": one.text}
    return {"doc_id": one.doc_id, "spans": [list(span) for span in one.spans]}


def _line(record: RunRecord) -> dict[str, Any]:
    """The fields of an `AnswerLine` that the record has."""
    line: dict[str, Any] = {"question_id": record.question_id}
    if record.failure is not None:
        line["error"] = f"{record.failure.type}: {record.failure.message}"
    if (answer := record.answer) is not None:
        line |= {"answer": answer.text, "abstained": answer.abstained, "retrieved_ids": list(answer.retrieved_ids)}
        line |= {"used_ids": list(answer.used_ids), "cited_ids": list(answer.cited_ids)}
        if answer.shown is not None:
            line["shown"] = [_shown(one) for one in answer.shown]
    if isinstance(k := record.cell.params.get("k"), int):
        line["k"] = k
    if record.calls:
        line["calls"] = [
            {
                "role": call.role,
                "model": call.model,
                "input_tokens": call.input_tokens,
                "output_tokens": call.output_tokens,
            }
            for call in record.calls
        ]
    if usage_of(record).measured:
        line["seconds"] = record.latency_seconds
    return line
