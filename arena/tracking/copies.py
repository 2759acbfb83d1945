"""Copies of a run that are in MLflow already: the whole one, and what is to go.

Every run that is written carries `arena.run`; a parent gets `arena.content` last of all, so that a copy without it was
broken off. MLflow cannot take back a metric or a parameter, so a copy of another content is replaced, not changed:
first the new one is written, then the old one deleted, with its traces. A deleted run can be restored in MLflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arena.tracking.finished import FinishedRun
from arena.tracking.server import Server

RUN_TAG, CONTENT_TAG, PARENT_TAG = "arena.run", "arena.content", "mlflow.parentRunId"

_PAGE = 500
_TRACES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Copies:
    """`whole`: the parent of a complete copy with this content (None: there is none); `stale`: runs of other copies."""

    whole: str | None
    stale: tuple[str, ...]


def find_copies(server: Server, run: FinishedRun) -> Copies:
    """All copies of `run` that are not deleted."""
    found = list(_runs(server, run.key))
    cells = len(run.board.cells)
    whole = next((one.info.run_id for one in found if _is_whole(one, found, run.digest, cells)), None)
    stale = [one for one in found if whole is None or whole not in (one.info.run_id, one.data.tags.get(PARENT_TAG))]
    return Copies(whole, tuple(one.info.run_id for one in stale))


def delete_copies(server: Server, run_ids: Sequence[str]) -> None:
    """Delete runs and the traces that belong to them. Broken off, it is gone on with by the next `find_copies`."""
    for run_id in run_ids:
        while ids := [trace.info.trace_id for trace in _traces(server, run_id)]:
            if not server.client.delete_traces(server.experiment_id, trace_ids=ids):
                break
        server.client.delete_run(run_id)


def _is_whole(parent: Any, found: Sequence[Any], digest: str, cells: int) -> bool:
    children = sum(one.data.tags.get(PARENT_TAG) == parent.info.run_id for one in found)
    return bool(parent.data.tags.get(CONTENT_TAG) == digest) and children == cells


def _runs(server: Server, key: str) -> Iterator[Any]:
    token = None
    while True:
        page = server.client.search_runs(
            [server.experiment_id], f"tags.`{RUN_TAG}` = '{key}'", max_results=_PAGE, page_token=token
        )
        yield from page
        token = page.token
        if not token:
            return


def _traces(server: Server, run_id: str) -> Any:
    return server.client.search_traces(
        locations=[server.experiment_id], run_id=run_id, max_results=_TRACES_AT_ONCE, include_spans=False
    )
