"""What every request must be and every reply carries, so that no other page in the browser gets at the runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
