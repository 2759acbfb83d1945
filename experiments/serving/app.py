"""The pages and the JSON of the server, as one application."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.store import RunStore
from experiments.run.process import resume_command
from experiments.serving.background import Background, wait_for
from experiments.serving.progress import RunProgress
from experiments.serving.reports import ReportOf, Reports, report_page
from experiments.serving.shelf import DAMAGE, Shelf, damage_text, in_order
from experiments.serving.shield import REPORTS, Shield
from experiments.serving.templating import STATIC, damaged_page, index_page, live_page, making_page, static_text
from experiments.serving.wire import run_json

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response

_READING = ["GET", "HEAD"]
_DAMAGED, _BEING_MADE = 422, 202
_LOOKS_AT_ONCE = _BUILDS_AT_ONCE = 4

PATIENCE_SECONDS = 1.0
"""How long a reply waits for what may take long."""


def build_app(
    runs_dir: Path,
    *,
    loopback: bool = True,
    hosts: Collection[str] = (),
    report_of: ReportOf = report_page,
    patience_seconds: float | None = PATIENCE_SECONDS,
) -> FastAPI:
    """The server of the runs in `runs_dir`.

    /                    all runs
    /runs/ID             the run's report; of one that goes on, its progress
    /runs/ID/report      the report of what there is
    /api/runs            all runs, as JSON
    /api/runs/ID         progress and first figures of one

    No reply waits longer than `patience_seconds` (None: it does) for a report or the first look at a run: it says that
    they are being made. `loopback`: it is bound to the loopback interface, and answers to no other name than the usual
    ones and `hosts`. `report_of`: makes a report.
    """
    from fastapi import FastAPI
    from starlette.responses import HTMLResponse, Response

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_middleware(Shield, loopback=loopback, hosts=hosts)
    pages = _Pages(Shelf(runs_dir), Reports(report_of), patience_seconds)

    @app.api_route("/", methods=_READING, response_model=None)
    async def index() -> Response:
        studies = await to_thread(pages.shelf.studies)
        return HTMLResponse(index_page(str(runs_dir), await pages.all_runs(), studies))

    @app.api_route("/runs/{run_id:path}/report", methods=_READING, response_model=None)
    async def report(run_id: str) -> Response:
        return await pages.report(run_id)

    @app.api_route("/runs/{run_id:path}", methods=_READING, response_model=None)
    async def run(run_id: str) -> Response:
        return await pages.run(run_id)

    @app.api_route("/api/runs", methods=_READING, response_model=None)
    async def runs_progress() -> Response:
        return _json([run_json(run) for run in await pages.all_runs()])

    @app.api_route("/api/runs/{run_id:path}", methods=_READING, response_model=None)
    async def progress(run_id: str) -> Response:
        store = await to_thread(pages.shelf.find, run_id)
        return pages.unknown(run_id) if store is None else _json(run_json(await pages.progress(store)))

    @app.api_route("/static/{name}", methods=_READING, response_model=None)
    def static(name: str) -> Response:
        if name not in STATIC:
            return Response(status_code=404)
        return Response(static_text(name), media_type=STATIC[name])

    return app


class _Pages:
    """The pages of runs. What may take long is done beside the replies, once however many ask for it."""

    def __init__(self, shelf: Shelf, reports: Reports, patience_seconds: float | None) -> None:
        self.shelf = shelf
        self._reports = reports
        self._patience = patience_seconds
        self._looks: Background[RunProgress] = Background(_LOOKS_AT_ONCE)
        self._builds: Background[str] = Background(_BUILDS_AT_ONCE)
        self._seen: dict[str, RunProgress] = {}

    async def all_runs(self) -> list[RunProgress]:
        """Every run as far as it is known in time, in the order of the list."""
        stores = await to_thread(self.shelf.stores)
        return in_order(await self._standing(list(stores.values())))

    async def progress(self, store: RunStore) -> RunProgress:
        """One run, likewise."""
        (found,) = await self._standing([store])
        return found

    async def _standing(self, stores: Sequence[RunStore]) -> list[RunProgress]:
        known = await to_thread(lambda: {str(store.folder): self.shelf.at_a_glance(store) for store in stores})
        looks = {
            place: self._looks.of(place, partial(self.shelf.progress_of, store))
            for store in stores
            if known[place := str(store.folder)].reading
        }
        await wait_for(looks.values(), self._patience)
        for place, look in looks.items():
            if look.done():
                self._seen[place] = look.result()
            known[place] = self._seen.get(place, known[place])
        return list(known.values())

    async def run(self, run_id: str) -> Response:
        from starlette.responses import HTMLResponse

        store = await to_thread(self.shelf.find, run_id)
        if store is None:
            return self.unknown(run_id)
        found = await self.progress(store)
        if found.status == "damaged":
            return HTMLResponse(damaged_page(run_id, found.problem or ""), status_code=_DAMAGED)
        if found.status == "finished":
            return await self.report(run_id)
        return HTMLResponse(live_page(found, resume_command(store)))

    async def report(self, run_id: str) -> Response:
        from starlette.responses import HTMLResponse

        store = await to_thread(self.shelf.find, run_id)
        if store is None:
            return self.unknown(run_id)
        try:
            page = await self._page(store)
        except DAMAGE as error:
            return HTMLResponse(damaged_page(run_id, damage_text(error)), status_code=_DAMAGED)
        if page is None:
            return HTMLResponse(making_page(run_id), status_code=_BEING_MADE, headers={"retry-after": "2"})
        return HTMLResponse(page, headers={"content-security-policy": REPORTS})

    async def _page(self, store: RunStore) -> str | None:
        """The report; None: it is not made in time."""
        page = await to_thread(self._reports.kept, store)
        if page is not None:
            return page
        build = self._builds.of(str(store.folder), partial(self._reports.of, store))
        await wait_for([build], self._patience)
        return build.result() if build.done() else None

    def unknown(self, run_id: str) -> Response:
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(f"there is no run {run_id!r} in {str(self.shelf.runs_dir)!r}\n", status_code=404)


def _json(content: object) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(content, ensure_ascii=False), media_type="application/json")
