"""Answers as ragas reads them: `EvaluationDataset.from_jsonl` of one file a cell."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from arena.metrics import Case
from experiments.exchange.cases import file_stem
from experiments.run.scoring import PastRun


def write_ragas(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`CELL.jsonl`, a sample a line. Records without an answer, which ragas has no place for, are left out."""
    left_out: Counter[str] = Counter()
    with ExitStack() as files:
        opened: dict[str, TextIO] = {}
        for case in cases:
            cell, sample = case.record.cell.key, _sample(case)
            if sample is None:
                left_out[cell] += 1
                continue
            if cell not in opened:
                opened[cell] = files.enter_context((target / f"{file_stem(cell)}.jsonl").open("w", encoding="utf-8"))
            opened[cell].write(json.dumps(sample, ensure_ascii=False) + "\n")
    return left_out


def _sample(case: Case) -> dict[str, Any] | None:
    """The fields of a `SingleTurnSample`; None: no answer, or shown texts that are not known any more."""
    answer = case.record.answer
    if answer is None or answer.text is None or case.shown is None:
        return None
    supporting = (case.documents[one] for one in case.gold.supporting_ids if one in case.documents)
    return {
        "user_input": case.question.text,
        "retrieved_contexts": list(case.shown.values()),
        "reference_contexts": [f"{one.title}\n{one.text}" for one in supporting],
        "response": answer.text,
        "reference": case.gold.answers[0] if case.gold.answers else None,
    }
