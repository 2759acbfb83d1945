"""What a list of traces shows of a question before one opens it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from arena.tracking.texts import Texts
from arena.types import RunRecord, sum_known

_PREVIEW_CHARS = 1_000
_SOURCE = "arena"
_TOLD = ("failure", "em", "f1", "recall")
"""Columns of questions.parquet that one sorts and filters traces by."""


def trace_id_of(mlflow_run: str, question_id: str) -> str:
    """The trace of a question in an MLflow run: always the same, so that writing it twice makes one."""
    return f"tr-{hashlib.sha256(f'{mlflow_run} {question_id}'.encode()).hexdigest()[:32]}"


def trace_info(
    record: RunRecord, found: Mapping[str, Any], texts: Texts, *, mlflow_run: str, experiment_id: str, start_ms: int
) -> Any:
    """The trace of a record in the MLflow run of its cell. `found`: what scoring found out, by name."""
    from mlflow.entities import TraceInfo, TraceLocation, TraceState

    question = texts.questions.get(record.question_id)
    text = question.text if question else record.question_id
    return TraceInfo(
        trace_id=trace_id_of(mlflow_run, record.question_id),
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=start_ms,
        execution_duration=round(record.wall_seconds * 1000),
        state=TraceState.ERROR if record.failure else TraceState.OK,
        request_preview=text[:_PREVIEW_CHARS],
        response_preview=_response(record)[:_PREVIEW_CHARS],
        client_request_id=f"{record.cell.key}/{record.question_id}",
        trace_metadata={"mlflow.sourceRun": mlflow_run, **_usage(record)},
        tags={
            "mlflow.traceName": record.question_id,
            "question_id": record.question_id,
            "strategy": record.cell.strategy,
            "retrieval_mode": record.cell.retrieval_mode,
            "outcome": record.outcome,
            **({"failure_class": str(found["failure"])} if found.get("failure") else {}),
        },
        assessments=_assessments(record, found, texts, start_ms),
    )


def _response(record: RunRecord) -> str:
    if record.failure is not None:
        return f"failed: {record.failure.message}"
    return (record.answer and record.answer.text) or record.outcome


def _usage(record: RunRecord) -> dict[str, str]:
    """The tokens of all calls under MLflow's name; nothing where those of any call are unknown."""
    read = sum_known(call.input_tokens for call in record.calls)
    written = sum_known(call.output_tokens for call in record.calls)
    if read is None or written is None:
        return {}
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return {"mlflow.trace.tokenUsage": json.dumps(usage)}


def _assessments(record: RunRecord, found: Mapping[str, Any], texts: Texts, moment_ms: int) -> list[Any]:
    """The right answers as an expectation, class and scores as feedback: columns of the list of traces."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback

    known: dict[str, Any] = {"source": AssessmentSource(source_type="CODE", source_id=_SOURCE)}
    known |= {"create_time_ms": moment_ms, "last_update_time_ms": moment_ms}
    gold = texts.gold.get(record.question_id)
    right = [Expectation(name="expected_answer", value=" | ".join(gold.answers), **known)] if gold else []
    return [*right, *(Feedback(name=name, value=found[name], **known) for name in _TOLD if found.get(name) is not None)]
