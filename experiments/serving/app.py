"""The pages and the JSON of the server, as one application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.process.resuming import resume_command
from experiments.serving.reports import ReportOf, Reports, report_page
from experiments.serving.shelf import DAMAGE, Shelf, damage_text
from experiments.serving.shield import REPORTS, Shield
from experiments.serving.templating import STATIC, damaged_page, index_page, live_page, static_text
from experiments.serving.wire import run_json

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response

_READING = ["GET", "HEAD"]
_DAMAGED = 422


def build_app(runs_dir: Path, *, loopback: bool = True, report_of: ReportOf = report_page) -> FastAPI:
    """The server of the runs in `runs_dir`.

    /                    all runs
    /runs/ID             the run's report; of one that goes on, its progress
    /runs/ID/report      the report of what there is
    /api/runs            all runs, as JSON
    /api/runs/ID         progress and first figures of one

    `loopback`: it is bound to the loopback interface, and answers to no other name. `report_of`: makes a report.
    """
    from fastapi import FastAPI
    from starlette.responses import HTMLResponse, Response

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_middleware(Shield, loopback=loopback)
    pages = _Pages(Shelf(runs_dir), Reports(report_of))

    @app.api_route("/", methods=_READING, response_model=None)
    def index() -> Response:
        return HTMLResponse(index_page(str(runs_dir), pages.shelf.progress(), pages.shelf.studies()))

    @app.api_route("/runs/{run_id:path}/report", methods=_READING, response_model=None)
    def report(run_id: str) -> Response:
        return pages.report(run_id)

    @app.api_route("/runs/{run_id:path}", methods=_READING, response_model=None)
    def run(run_id: str) -> Response:
        return pages.run(run_id)

    @app.api_route("/api/runs", methods=_READING, response_model=None)
    def runs_progress() -> Response:
        return _json([run_json(run) for run in pages.shelf.progress()])

    @app.api_route("/api/runs/{run_id:path}", methods=_READING, response_model=None)
    def progress(run_id: str) -> Response:
        store = pages.shelf.find(run_id)
        return pages.unknown(run_id) if store is None else _json(run_json(pages.shelf.progress_of(store)))

    @app.api_route("/static/{name}", methods=_READING, response_model=None)
    def static(name: str) -> Response:
        if name not in STATIC:
            return Response(status_code=404)
        return Response(static_text(name), media_type=STATIC[name])

    return app


class _Pages:
    """The pages of one run."""

    def __init__(self, shelf: Shelf, reports: Reports) -> None:
        self.shelf = shelf
        self._reports = reports

    def run(self, run_id: str) -> Response:
        from starlette.responses import HTMLResponse

        store = self.shelf.find(run_id)
        if store is None:
            return self.unknown(run_id)
        found = self.shelf.progress_of(store)
        if found.status == "damaged":
            return HTMLResponse(damaged_page(run_id, found.problem or ""), status_code=_DAMAGED)
        if found.status == "finished":
            return self.report(run_id)
        return HTMLResponse(live_page(found, resume_command(store)))

    def report(self, run_id: str) -> Response:
        from starlette.responses import HTMLResponse

        store = self.shelf.find(run_id)
        if store is None:
            return self.unknown(run_id)
        try:
            page = self._reports.of(store)
        except DAMAGE as error:
            return HTMLResponse(damaged_page(run_id, damage_text(error)), status_code=_DAMAGED)
        return HTMLResponse(page, headers={"content-security-policy": REPORTS})

    def unknown(self, run_id: str) -> Response:
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(f"there is no run {run_id!r} in {str(self.shelf.runs_dir)!r}\n", status_code=404)


def _json(content: object) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(content, ensure_ascii=False), media_type="application/json")
