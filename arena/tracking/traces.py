"""Traces of some questions of every cell, each belonging to its cell's MLflow run.

They are written through MLflow's trace client and not through its live tracing: that one hands every span over by
itself, in a thread, and turns what goes wrong into a log line. Here many spans go in one request, and an error is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from arena.errors import TrackingError
from arena.store import key_of
from arena.tracking.choice import choose
from arena.tracking.finished import FinishedRun
from arena.tracking.question_table import QuestionTable
from arena.tracking.server import Server
from arena.tracking.spans import spans_of
from arena.tracking.story import events_of
from arena.tracking.texts import Texts
from arena.tracking.trace_info import trace_info
from arena.types import RunRecord

_TRACES_AT_ONCE = 40


def write_traces(
    server: Server, run: FinishedRun, children: Mapping[str, str], table: QuestionTable, texts: Texts
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
        traces = [_trace(record, run, table, texts, children[record.cell.key], server.experiment_id) for record in some]
        for info, _ in traces:
            client.start_trace(info)
        _log_spans(client, server.experiment_id, [span for _, spans in traces for span in spans])
        count += len(traces)
    return count


def _log_spans(client: Any, experiment_id: str, spans: list[Any]) -> None:
    try:
        client.log_spans(experiment_id, spans)
    except NotImplementedError as error:
        raise TrackingError(f"the server takes no traces ({error}): update it, or choose 0 traces per cell") from error


def _trace(
    record: RunRecord, run: FinishedRun, table: QuestionTable, texts: Texts, mlflow_run: str, experiment_id: str
) -> tuple[Any, list[Any]]:
    """Info and spans. A record has no time of day: every question is shown as begun with the run."""
    found = table.row(key_of(record))
    start_ms = run.started_ms
    info = trace_info(record, found, texts, mlflow_run=mlflow_run, experiment_id=experiment_id, start_ms=start_ms)
    return info, spans_of(events_of(record, found, texts), info.trace_id, start_ms * 1_000_000)
