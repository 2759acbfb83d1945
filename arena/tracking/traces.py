"""Traces of some questions of every cell, each belonging to its cell's MLflow run.

They are written through MLflow's trace client and not through its live tracing: that one hands every span over by
itself, in a thread, and turns what goes wrong into a log line. Here many spans go in one request, and an error is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from arena.errors import TrackingError
from arena.identity import short_hash
from arena.store import key_of
from arena.tracking.events import Event, events_of
from arena.tracking.server import Server
from arena.tracking.source import CorpusTexts, FinishedRun, QuestionTable, choose
from arena.types import RunRecord, sum_known

_PREVIEW_CHARS = 1_000
_SOURCE = "arena"
_TOLD = ("failure", "em", "f1", "recall")
"""Columns of questions.parquet that one sorts and filters traces by."""


def trace_id_of(mlflow_run: str, question_id: str) -> str:
    """The trace of a question in an MLflow run: always the same, so that writing it twice makes one."""
    return f"tr-{short_hash(f'{mlflow_run} {question_id}', 32)}"


def _trace_info(
    record: RunRecord, run: FinishedRun, found: Mapping[str, Any], texts: CorpusTexts, mlflow_run: str, experiment: str
) -> Any:
    """The trace of a record in the MLflow run of its cell. `found`: what scoring found out, by name.

    A record has no time of day: every question is shown as begun with the run.
    """
    from mlflow.entities import TraceInfo, TraceLocation, TraceState

    question = texts.questions.get(record.question_id)
    text = question.text if question else record.question_id
    return TraceInfo(
        trace_id=trace_id_of(mlflow_run, record.question_id),
        trace_location=TraceLocation.from_experiment_id(experiment),
        request_time=run.started_ms,
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
        assessments=_assessments(record, found, texts, run.started_ms),
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


def _assessments(record: RunRecord, found: Mapping[str, Any], texts: CorpusTexts, moment_ms: int) -> list[Any]:
    """The right answers as an expectation, class and scores as feedback: columns of the list of traces."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback

    known: dict[str, Any] = {"source": AssessmentSource(source_type="CODE", source_id=_SOURCE)}
    known |= {"create_time_ms": moment_ms, "last_update_time_ms": moment_ms}
    gold = texts.gold.get(record.question_id)
    right = [Expectation(name="expected_answer", value=" | ".join(gold.answers), **known)] if gold else []
    return [*right, *(Feedback(name=name, value=found[name], **known) for name in _TOLD if found.get(name) is not None)]


_NANOSECONDS = 1_000_000_000


def spans_of(events: Sequence[Event], trace_id: str, start_ns: int) -> list[Any]:
    """MLflow's spans of `events`, the first of which is their parent. A span's id follows from trace and place.

    Things of one moment begin a nanosecond after another, since MLflow's pages order by time alone.
    """
    from mlflow.entities import Span

    root = _span_id(trace_id, 0)
    return [
        Span.from_dict(_span(event, trace_id, _span_id(trace_id, place), root if place else None, start_ns + place))
        for place, event in enumerate(events)
    ]


def _span(event: Event, trace_id: str, span_id: str, parent: str | None, start_ns: int) -> dict[str, Any]:
    begin, end = (start_ns + round(seconds * _NANOSECONDS) for seconds in event.period)
    attributes = {
        "mlflow.traceRequestId": trace_id,
        "mlflow.spanType": event.kind,
        "mlflow.spanInputs": event.inputs,
        "mlflow.spanOutputs": event.outputs,
        **event.attributes,
    }
    return {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": parent,
        "name": event.name,
        "start_time_unix_nano": begin,
        "end_time_unix_nano": max(begin, end),
        "status": {"code": "ERROR" if event.error else "OK", "message": event.error or ""},
        "attributes": {name: _json(value) for name, value in attributes.items() if value is not None},
    }


def _span_id(trace_id: str, place: int) -> str:
    return short_hash(f"{trace_id} {place}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_TRACES_AT_ONCE = 40


def write_traces(
    server: Server, run: FinishedRun, children: Mapping[str, str], table: QuestionTable, texts: CorpusTexts
) -> int:
    """Write the traces of `run` and say how many. `children`: cell key -> id of its MLflow run.

    The journal is read once, one record at a time.
    """
    from mlflow.tracing.client import TracingClient

    chosen = choose(table.orders(), run.traces)
    if not chosen:
        return 0
    client, count = TracingClient(server.uri), 0
    records = (record for record in run.store.records() if key_of(record) in chosen)
    while some := list(islice(records, _TRACES_AT_ONCE)):
        spans: list[Any] = []
        for record in some:
            found = table.row(key_of(record))
            info = _trace_info(record, run, found, texts, children[record.cell.key], server.experiment_id)
            spans += spans_of(events_of(record, found, texts), info.trace_id, run.started_ms * 1_000_000)
            client.start_trace(info)
        _log_spans(client, server.experiment_id, spans)
        count += len(some)
    return count


def _log_spans(client: Any, experiment_id: str, spans: list[Any]) -> None:
    try:
        client.log_spans(experiment_id, spans)
    except NotImplementedError as error:
        raise TrackingError(f"the server takes no traces ({error}): update it, or choose 0 traces per cell") from error
