"""Events as MLflow's spans."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from arena.tracking.story import Event

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
    return hashlib.sha256(f"{trace_id} {place}".encode()).hexdigest()[:16]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
