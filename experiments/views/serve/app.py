"""`arena serve`: the pages and the JSON of all runs as one application on a port, until Ctrl-C.

Requests are checked and replies carry headers so that no other page in the browser gets at the runs.
"""

from __future__ import annotations

import ipaddress
import json
import signal
import socket
from asyncio import to_thread
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EACCES, EADDRINUSE
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from arena.errors import ConfigError
from arena.store import RunStore
from arena.store.runs import resume_command
from experiments.terminal.progress import Reporter
from experiments.views.serve.pages import (
    STATIC,
    Background,
    ReportOf,
    Reports,
    index_page,
    page,
    report_page,
    static_text,
    wait_for,
)
from experiments.views.serve.runs import DAMAGE, RunList, damage_text, in_order, run_json
from experiments.views.serve.watch import RunProgress

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})

OWN_PAGES = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the pages of the server itself."""

REPORTS = "connect-src 'none'; form-action 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
"""Of a report, over the stricter one that it carries in itself: its scripts are inline."""

_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": OWN_PAGES,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Shield:
    """Refuses all but GET and HEAD (405) and, on the loopback interface, requests to another name (403).

    A page elsewhere can have its own name lead to 127.0.0.1 (DNS rebinding) and read what is served there; its requests
    still carry that name in `Host`.
    """

    def __init__(self, app: ASGIApp, *, loopback: bool, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._loopback = loopback
        self._hosts = LOOPBACK_HOSTS | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message.get("headers", [])]
                names = {name for name, _ in given}
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": given + [pair for pair in own if pair[0] not in names]}
            await send(message)

        if scope["method"] not in ("GET", "HEAD"):
            await _refuse(sealed, 405, "read-only: GET and HEAD alone", [(b"allow", b"GET, HEAD")])
        elif self._loopback and _host(scope) not in self._hosts:
            await _refuse(sealed, 403, f"this server answers to {', '.join(sorted(self._hosts))} alone", [])
        else:
            await self._app(scope, receive, sealed)


def _host(scope: Scope) -> str:
    """What the request takes us for, without the port; empty where it says nothing or two things."""
    named: list[str] = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return (host if colon and port.isdigit() else named[0]).lower()


async def _refuse(send: Send, status: int, why: str, headers: list[tuple[bytes, bytes]]) -> None:
    content = [(b"content-type", b"text/plain; charset=utf-8"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": content})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})


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
    pages = _Pages(RunList(runs_dir), Reports(report_of), patience_seconds)

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

    def __init__(self, shelf: RunList, reports: Reports, patience_seconds: float | None) -> None:
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
            return HTMLResponse(page("damaged", run_id=run_id, problem=found.problem or ""), status_code=_DAMAGED)
        if found.status == "finished":
            return await self.report(run_id)
        return HTMLResponse(page("live", run=found, again=resume_command(store)))

    async def report(self, run_id: str) -> Response:
        from starlette.responses import HTMLResponse

        store = await to_thread(self.shelf.find, run_id)
        if store is None:
            return self.unknown(run_id)
        try:
            report = await self._page(store)
        except DAMAGE as error:
            return HTMLResponse(page("damaged", run_id=run_id, problem=damage_text(error)), status_code=_DAMAGED)
        if report is None:
            return HTMLResponse(page("making", run_id=run_id), status_code=_BEING_MADE, headers={"retry-after": "2"})
        return HTMLResponse(report, headers={"content-security-policy": REPORTS})

    async def _page(self, store: RunStore) -> str | None:
        """The report; None: it is not made in time."""
        kept = await to_thread(self._reports.kept, store)
        if kept is not None:
            return kept
        build = self._builds.of(str(store.folder), partial(self._reports.of, store))
        await wait_for([build], self._patience)
        return build.result() if build.done() else None

    def unknown(self, run_id: str) -> Response:
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(f"there is no run {run_id!r} in {str(self.shelf.runs_dir)!r}\n", status_code=404)


def _json(content: object) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(content, ensure_ascii=False), media_type="application/json")


_TRIED = 20


def serve_runs(runs_dir: Path, host: str, port: int, reporter: Reporter) -> None:
    """Serve the runs in `runs_dir` until Ctrl-C or SIGTERM, which is no error.

    `host`: address or name to listen on; beyond this machine only if it says so, and with a warning. `port`: 0 = any
    free one.

    Raises:
        ConfigError: there is no such folder, or it cannot be listened there; of a port in use it names another.
    """
    import uvicorn

    if not runs_dir.is_dir():
        raise ConfigError(f"there is no folder {str(runs_dir)!r}: name the one that holds the run folders")
    with listening(host, port) as bound:
        loopback = is_loopback(bound)
        app = build_app(runs_dir, loopback=loopback, hosts=names_of(bound, host))
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        if not loopback:
            reporter.warn(
                f"whoever reaches {host} can read these runs, their questions and texts; there is no password"
            )
        reporter.say(f"{address_of(bound, host)}  shows the runs in {runs_dir}; Ctrl-C ends it")
        server = uvicorn.Server(config)
        with _ended_by(server.handle_exit):
            server.run(sockets=[bound])
        reporter.say("stopped; nothing was written")


@contextmanager
def _ended_by(stop: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM call `stop`, also before the server hears them itself and when it hands them on."""
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_loopback(bound: socket.socket) -> bool:
    """Whether what listens there can be reached from this machine alone, however its address was written."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def names_of(bound: socket.socket, host: str) -> frozenset[str]:
    """What a browser that was given the address may call it: as it was typed, and as it is bound."""
    return frozenset(_bracketed(name) for name in (host, str(bound.getsockname()[0])))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises as `serve_runs`."""
    if not host.strip():
        raise ConfigError("--host is empty: 127.0.0.1 is this machine only, 0.0.0.0 whoever reaches it")
    try:
        return _bind(host, port)
    except OSError as error:
        if error.errno == EADDRINUSE:
            other = next((free for free in range(port + 1, min(port + _TRIED, 65536)) if _is_free(host, free)), 0)
            raise ConfigError(f"port {port} of {host} is in use: take --port {other}") from None
        hint = "choose a port from 1024 up" if error.errno == EACCES else "check --host and --port"
        raise ConfigError(f"cannot listen on port {port} of {host!r}: {error.strerror or error}; {hint}") from None


def address_of(bound: socket.socket, host: str) -> str:
    """What to type into a browser."""
    return f"http://{_bracketed(host)}:{bound.getsockname()[1]}/"


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _is_free(host: str, port: int) -> bool:
    try:
        _bind(host, port).close()
    except OSError:
        return False
    return True
