"""One question as JSON: records as the journal has them, and beside them what was derived."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from arena.report.question import CellPage, QuestionPage
from arena.types import Document, Gold, Question, RunRecord, Score, Verdict

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
                "calls": use.spent.calls,
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
